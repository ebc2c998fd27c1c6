/** The command that opens a new workbench, and its places: launcher, palette, File > New. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { workbenchIcon, workbenchIconUrl } from './icon.js';
import { fillAndRun } from './notebook/notebook.js';

const OPEN = 'workbench:open';

/** Opens a notebook whose first cell shows a workbench. The panel takes the launcher's place. */
async function openWorkbench(
  app: JupyterFrontEnd,
  cwd: string | undefined
): Promise<NotebookPanel> {
  await app.serviceManager.kernelspecs.ready;
  const panel = (await app.commands.execute('notebook:create-new', {
    ...(cwd === undefined ? {} : { cwd }),
    kernelName: app.serviceManager.kernelspecs.specs?.default ?? 'python3'
  })) as NotebookPanel;
  fillAndRun(panel).catch(reason =>
    Notification.error(`The workbench could not start: ${reason}`, {
      autoClose: false
    })
  );
  return panel;
}

export const openPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:open',
  description: 'Opens a new workbench from the launcher, palette and menu.',
  autoStart: true,
  optional: [ILauncher, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    launcher: ILauncher | null,
    palette: ICommandPalette | null
  ) => {
    app.commands.addCommand(OPEN, {
      label: args =>
        args['isPalette'] || args['isMenu']
          ? 'New Training Workbench'
          : 'Workbench',
      caption: 'Train with tf.distribute: pick a strategy, click, watch',
      icon: args => (args['isPalette'] ? undefined : workbenchIcon),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            cwd: {
              type: 'string',
              description: 'The folder in which to make the notebook'
            }
          }
        }
      },
      execute: args =>
        openWorkbench(
          app,
          typeof args['cwd'] === 'string' ? args['cwd'] : undefined
        )
    });
    launcher?.add({
      command: OPEN,
      category: 'Notebook',
      rank: 10,
      kernelIconUrl: workbenchIconUrl
    });
    palette?.addItem({
      command: OPEN,
      category: 'Workbench',
      args: { isPalette: true }
    });
  }
};
