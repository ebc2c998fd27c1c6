/** The command that opens a run in the main area, and the panel's return after a reload. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { IWorkbenchServer } from '../server/plugin.js';
import { OPEN_RUN } from './names.js';
import { RunPanel, type RunArguments } from './runPanel.js';
import { show } from './showing.js';

const PROPERTIES = {
  run: { type: 'string', description: 'The id of the run' },
  folder: {
    type: 'string',
    description:
      'The folder of runs, relative to the root folder of the server; default: the folder in the settings'
  },
  title: { type: 'string', description: 'The initial title of the tab' }
};

/** Return the run that the arguments name. */
function asked(
  args: ReadonlyPartialJSONObject,
  usualFolder: string,
  trans: TranslationBundle
): RunArguments {
  const text = (name: string, otherwise: string) =>
    typeof args[name] === 'string' ? args[name] : otherwise;
  const run = text('run', '');
  if (run === '') {
    throw new Error(
      trans.__('No run was named. Pass its id as the argument run.')
    );
  }
  return {
    run,
    folder: text('folder', usualFolder),
    title: text('title', run)
  };
}

export const runPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:run',
  description: 'Shows a run in the main area, live, without a kernel.',
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
    const trans = translations.load('tf-distribute-workbench');
    const tracker = new WidgetTracker<RunPanel>({ namespace: 'workbench-run' });
    const open = (args: ReadonlyPartialJSONObject): RunPanel => {
      const wanted = asked(args, server.choices.runsFolder, trans);
      return show(
        app,
        tracker,
        ({ shown }) =>
          shown.run === wanted.run && shown.folder === wanted.folder,
        () =>
          new RunPanel(server, wanted, translations, run =>
            open({ run, folder: wanted.folder })
          )
      );
    };
    app.commands.addCommand(OPEN_RUN, {
      label: trans.__('Open Run'),
      describedBy: {
        args: { type: 'object', properties: PROPERTIES, required: ['run'] }
      },
      execute: open
    });
    void restorer?.restore(tracker, {
      command: OPEN_RUN,
      name: ({ shown }) => `${shown.folder}:${shown.run}`,
      args: ({ shown }) => ({ ...shown })
    });
  }
};
