/** The command that compares runs in the main area, and the panel's return after a reload. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { IWorkbenchServer } from '../server/plugin.js';
import { keptOrder } from './comparison/order.js';
import type { Compared } from './comparison/view.js';
import { ComparePanel } from './comparePanel.js';
import { COMPARE_RUNS, OPEN_RUN } from './names.js';
import { show } from './showing.js';

const PROPERTIES = {
  runs: {
    type: 'array',
    items: { type: 'string' },
    description: 'The ids of the runs'
  },
  folder: {
    type: 'string',
    description:
      'The folder of runs, relative to the root folder of the server; default: the folder in the settings'
  },
  order: {
    type: ['object', 'null'],
    properties: {
      column: { type: 'string', description: 'The name of the column' },
      turned: {
        type: 'boolean',
        description: 'Whether the worst values come first'
      }
    },
    required: ['column', 'turned'],
    description:
      'The initial order of the table; default: as listed. A comparison that is already open keeps its order.'
  }
};

function asked(
  { runs, folder, order }: ReadonlyPartialJSONObject,
  usualFolder: string
): Compared {
  const named = Array.isArray(runs) ? runs : [];
  return {
    runs: [...new Set(named.filter(run => typeof run === 'string'))],
    folder: typeof folder === 'string' ? folder : usualFolder,
    order: keptOrder(order)
  };
}

/** Return the key of a comparison: its runs, in any order. */
function keyOf({ runs, folder }: Readonly<Compared>): string {
  return JSON.stringify([folder, ...[...runs].sort()]);
}

export const comparePlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:compare',
  description: 'Compares runs in the main area, live, without a kernel.',
  autoStart: true,
  requires: [IWorkbenchServer],
  optional: [ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    server: IWorkbenchServer,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ) => {
    const translations = translator ?? nullTranslator;
    const tracker = new WidgetTracker<ComparePanel>({
      namespace: 'workbench-compare'
    });
    const open = (args: ReadonlyPartialJSONObject): ComparePanel => {
      const compared = asked(args, server.choices.runsFolder);
      const { folder } = compared;
      return show(
        app,
        tracker,
        panel => keyOf(panel.compared) === keyOf(compared),
        () =>
          new ComparePanel(server, compared, translations, (run, title) => {
            void app.commands.execute(OPEN_RUN, { run, folder, title });
          })
      );
    };
    app.commands.addCommand(COMPARE_RUNS, {
      label: translations.load('tf-distribute-workbench').__('Compare Runs'),
      describedBy: {
        args: { type: 'object', properties: PROPERTIES, required: ['runs'] }
      },
      execute: open
    });
    void restorer?.restore(tracker, {
      command: COMPARE_RUNS,
      name: ({ compared }) => keyOf(compared),
      args: ({ compared: { runs, folder, order } }) => ({
        runs,
        folder,
        order: order && { ...order }
      })
    });
  }
};
