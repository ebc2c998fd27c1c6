/** The commands of the sidebar, in palette and context menu; they act on the selected runs. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type {
  ReadonlyJSONObject,
  ReadonlyPartialJSONObject
} from '@lumino/coreutils';

import type { Row } from '../server/protocol.js';
import type { RunAction } from './runactions.js';
import { Ids } from './ids.js';
import type { Runs } from './runs.js';

const LIST = '.jp-WorkbenchRuns-list';

/** Return the runs that the arguments of a command name, else the runs selected in the list. */
function meant(runs: Runs, { runs: ids }: ReadonlyPartialJSONObject): Row[] {
  return Array.isArray(ids) ? runs.rows(ids.map(String)) : runs.chosen;
}

function describedBy(id: string, trans: TranslationBundle) {
  const runs = {
    type: 'array',
    items: { type: 'string' },
    description: trans.__('Ids of runs; default: the runs selected in the list')
  };
  const epochs = {
    type: 'integer',
    minimum: 1,
    description: trans.__('Total epochs; default: a dialog asks for them')
  };
  const properties: ReadonlyPartialJSONObject =
    id === Ids.trainOn ? { runs, epochs } : { runs };
  return { args: { type: 'object', properties } as ReadonlyJSONObject };
}

export function addCommands(
  { commands, contextMenu }: JupyterFrontEnd,
  actions: RunAction[],
  runs: Runs,
  palette: ICommandPalette | null,
  trans: TranslationBundle
): void {
  actions.forEach(({ id, label, long, icon, of, does }, rank) => {
    const offered = (args: ReadonlyPartialJSONObject) =>
      of(meant(runs, args)).length > 0;
    commands.addCommand(id, {
      label: args => (args['isPalette'] ? long : label),
      icon: args => (args['isPalette'] ? undefined : icon),
      describedBy: describedBy(id, trans),
      isEnabled: offered,
      isVisible: args => args['isPalette'] === true || offered(args),
      execute: async args => {
        const { epochs } = args;
        try {
          await does(
            of(meant(runs, args)),
            typeof epochs === 'number' ? epochs : undefined
          );
        } catch (reason) {
          const why = reason instanceof Error ? reason.message : String(reason);
          runs.report(why, 'error');
        }
      }
    });
    palette?.addItem({
      command: id,
      category: trans.__('Workbench'),
      args: { isPalette: true }
    });
    contextMenu.addItem({ command: id, selector: LIST, rank });
  });
  let before = '';
  runs.changed.connect(() => {
    const now = actions.map(({ of }) => of(runs.chosen).length > 0).join();
    if (now !== before) {
      before = now;
      actions.forEach(({ id }) => commands.notifyCommandChanged(id));
    }
  });
}
