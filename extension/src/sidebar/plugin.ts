/** The sidebar in the left area: devices and runs, live without any kernel. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import { workbenchIcon } from '../icon.js';
import { IWorkbenchServer } from '../server/plugin.js';
import { addCommands } from './commands.js';
import { runActionsOf } from './runactions.js';
import { dragCells } from './drag.js';
import { Ids } from './ids.js';
import { SidebarPanel } from './panel.js';
import { Runs } from './runs.js';
import { RunsView } from './runsview.js';
import { Toolbar } from './toolbar.js';
import { named } from './words.js';

const ID = 'workbench-sidebar';
const RANK = 300;
const BUTTONS = [
  Ids.open,
  Ids.compare,
  Ids.stop,
  Ids.resume,
  Ids.trainOn,
  Ids.remove
];
/** The commands that open a workbench: as a panel, or else in a notebook. */
const STARTS = ['workbench:open-panel', 'workbench:open'];
const MORE = [Ids.notebook, Ids.file, Ids.cell, Ids.opening];

function viewOf(
  { commands, contextMenu }: JupyterFrontEnd,
  runs: Runs,
  trans: TranslationBundle
): RunsView {
  const sources = async (ids: string[]): Promise<string[]> => {
    try {
      const cell = (id: string) => runs.requests.script(id, 'cell');
      return (await Promise.all(ids.map(cell))).map(({ text }) => text);
    } catch (reason) {
      runs.report(String(reason), 'error');
      return [];
    }
  };
  const callbacks = {
    open: () => void commands.execute(Ids.open),
    remove: () => {
      if (commands.isEnabled(Ids.remove)) {
        void commands.execute(Ids.remove);
      }
    },
    menu: (over: () => void) => {
      const { aboutToClose } = contextMenu.menu;
      const once = () => {
        aboutToClose.disconnect(once);
        over();
      };
      aboutToClose.connect(once);
    },
    start: () => {
      const shown = STARTS.find(id => commands.hasCommand(id));
      void (shown && commands.execute(shown));
    },
    drag: (event: PointerEvent, ids: string[]) =>
      dragCells(event, named(runs.rows(ids), trans), () => sources(ids))
  };
  const toolbar = new Toolbar(commands, BUTTONS, MORE, trans);
  return new RunsView(runs, toolbar, callbacks, trans);
}

export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:sidebar',
  description: 'Devices and runs in the left sidebar.',
  autoStart: true,
  requires: [IWorkbenchServer],
  optional: [
    ICommandPalette,
    ILayoutRestorer,
    INotebookTracker,
    IDefaultFileBrowser,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    server: IWorkbenchServer,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null,
    files: IDefaultFileBrowser | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(
      'tf-distribute-workbench'
    );
    const runs = new Runs(server);
    const actions = runActionsOf(app, runs, { notebooks, files }, trans);
    addCommands(app, actions, runs, palette, trans);
    const panel = new SidebarPanel(
      server,
      runs,
      viewOf(app, runs, trans),
      trans
    );
    panel.id = ID;
    panel.title.icon = workbenchIcon;
    panel.title.caption = trans.__('Distributed training');
    runs.reported.connect((_, { level, text }) => {
      if (!panel.isVisible) {
        Notification.emit(text, level === 'error' ? 'error' : 'info');
      }
    });
    app.commands.addCommand(Ids.show, {
      label: trans.__('Show Training Runs and Devices'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => app.shell.activateById(ID)
    });
    palette?.addItem({ command: Ids.show, category: trans.__('Workbench') });
    app.shell.add(panel, 'left', { rank: RANK });
    restorer?.add(panel, ID);
  }
};
