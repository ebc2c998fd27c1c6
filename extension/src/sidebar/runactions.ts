/** The actions on runs in the sidebar, as a table for the commands. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { FileBrowser } from '@jupyterlab/filebrowser';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { LabIcon } from '@jupyterlab/ui-components';
import {
  deleteIcon,
  fastForwardIcon,
  launchIcon,
  runIcon,
  stopIcon,
  tableRowsIcon
} from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';

import { COMPARE_RUNS, OPEN_RUN } from '../main/names.js';
import type { ActionName } from '../runview/protocol.js';
import type { Row } from '../server/protocol.js';
import { Acts } from './acts.js';
import { Ids } from './ids.js';
import type { Runs } from './runs.js';
import { DELETED } from './runlist.js';
import { putIntoCell, saved } from './take.js';

export interface RunAction {
  id: string;
  /** On the buttons and in the context menu. */
  label: string;
  /** In the palette, which shows no context. */
  long: string;
  icon?: LabIcon;
  /** The rows among these that allow it; without any, it is not offered. */
  of: (rows: Row[]) => Row[];
  does: (rows: Row[], epochs?: number) => Promise<void>;
}

/** The destinations of scripts; null if the application has none. */
export interface Places {
  notebooks: INotebookTracker | null;
  files: FileBrowser | null;
}

export function runActionsOf(
  app: JupyterFrontEnd,
  runs: Runs,
  places: Places,
  trans: TranslationBundle
): RunAction[] {
  return [
    ...looking(app, runs, trans),
    ...acting(new Acts(runs, trans), trans),
    ...taking(app, runs, places, trans)
  ];
}

const present = (rows: Row[]): Row[] =>
  rows.filter(({ status }) => status !== DELETED);
const only = (rows: Row[]): Row[] => (rows.length === 1 ? present(rows) : []);
const offering =
  (name: ActionName) =>
  (rows: Row[]): Row[] =>
    rows.filter(({ actions }) => actions.includes(name));

function looking(
  { commands }: JupyterFrontEnd,
  runs: Runs,
  trans: TranslationBundle
): RunAction[] {
  return [
    {
      id: Ids.open,
      label: trans.__('Open'),
      long: trans.__('Open Selected Runs'),
      icon: launchIcon,
      of: rows => (commands.hasCommand(OPEN_RUN) ? present(rows) : []),
      does: async rows => {
        const { folder } = runs.requests;
        for (const { id, title } of rows) {
          await commands.execute(OPEN_RUN, { run: id, folder, title });
        }
      }
    },
    {
      id: Ids.compare,
      label: trans.__('Compare'),
      long: trans.__('Compare Selected Runs'),
      icon: tableRowsIcon,
      of: rows => {
        const several = present(rows).length > 1;
        return several && commands.hasCommand(COMPARE_RUNS)
          ? present(rows)
          : [];
      },
      does: async rows => {
        const { folder } = runs.requests;
        const ids = rows.map(({ id }) => id);
        await commands.execute(COMPARE_RUNS, { runs: ids, folder });
      }
    }
  ];
}

function acting(acts: Acts, trans: TranslationBundle): RunAction[] {
  return [
    {
      id: Ids.stop,
      label: trans.__('Stop'),
      long: trans.__('Stop Selected Runs'),
      icon: stopIcon,
      of: offering('stop'),
      does: rows => acts.stop(rows)
    },
    {
      id: Ids.resume,
      label: trans.__('Resume'),
      long: trans.__('Resume Selected Runs'),
      icon: runIcon,
      of: offering('resume'),
      does: rows => acts.resume(rows)
    },
    {
      id: Ids.trainOn,
      label: trans.__('Continue Training…'),
      long: trans.__('Continue Training Selected Runs…'),
      icon: fastForwardIcon,
      of: offering('train_on'),
      does: (rows, epochs) => acts.trainOn(rows, epochs)
    },
    {
      id: Ids.remove,
      label: trans.__('Delete…'),
      long: trans.__('Delete Selected Runs…'),
      icon: deleteIcon,
      of: offering('delete'),
      does: rows => acts.remove(rows)
    }
  ];
}

function taking(
  { commands, serviceManager }: JupyterFrontEnd,
  runs: Runs,
  { notebooks, files }: Places,
  trans: TranslationBundle
): RunAction[] {
  const save = async ([row]: Row[], form: 'py' | 'ipynb'): Promise<void> => {
    const script = await runs.requests.script(row!.id, form);
    const folder = files?.model.path ?? '';
    const path = await saved(serviceManager.contents, folder, script);
    await commands.execute('docmanager:open', { path });
    runs.report(trans.__('Saved as %1.', path));
  };
  const put = async (rows: Row[], form: 'py' | 'cell'): Promise<void> => {
    const panel = notebooks!.currentWidget!;
    for (const { id } of rows) {
      const { text } = await runs.requests.script(id, form);
      await putIntoCell(panel, text);
    }
    runs.report(trans.__('Inserted into the notebook.'));
  };
  const intoNotebook = (rows: Row[]) =>
    notebooks?.currentWidget ? present(rows) : [];
  return [
    {
      id: Ids.notebook,
      label: trans.__('Save Script as New Notebook'),
      long: trans.__('Save Script of Selected Run as New Notebook'),
      of: only,
      does: rows => save(rows, 'ipynb')
    },
    {
      id: Ids.file,
      label: trans.__('Save Script as New File'),
      long: trans.__('Save Script of Selected Run as New File'),
      of: only,
      does: rows => save(rows, 'py')
    },
    {
      id: Ids.cell,
      label: trans.__('Insert Script into Current Cell'),
      long: trans.__('Insert Script of Selected Run into Current Cell'),
      of: rows => intoNotebook(only(rows)),
      does: rows => put(rows, 'py')
    },
    {
      id: Ids.opening,
      label: trans.__('Insert Cell That Opens the Run'),
      long: trans.__('Insert Cells That Open Selected Runs'),
      of: intoNotebook,
      does: rows => put(rows, 'cell')
    }
  ];
}
