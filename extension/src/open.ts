/** The command that opens a new workbench, and its places: launcher, palette, File > New. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import type { NotebookPanel } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import { NOTHING_CHOSEN, type Beginnings } from './beginnings.js';
import { workbenchIcon, workbenchIconUrl } from './icon.js';
import { fillAndRun } from './notebook/notebook.js';
import { IWorkbenchServer } from './server/plugin.js';

const OPEN = 'workbench:open';

/** Opens a notebook whose first cell shows a workbench. The panel takes the launcher's place. */
async function openWorkbench(
  app: JupyterFrontEnd,
  cwd: string | undefined,
  beginnings: Beginnings,
  trans: TranslationBundle
): Promise<NotebookPanel> {
  await app.serviceManager.kernelspecs.ready;
  const panel = (await app.commands.execute('notebook:create-new', {
    ...(cwd === undefined ? {} : { cwd }),
    kernelName: app.serviceManager.kernelspecs.specs?.default ?? 'python3'
  })) as NotebookPanel;
  fillAndRun(panel, beginnings).catch(reason =>
    Notification.error(
      trans.__('The workbench could not start: %1', String(reason)),
      { autoClose: false }
    )
  );
  return panel;
}

export const openPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:open',
  description: 'Opens a new workbench from the launcher, palette and menu.',
  autoStart: true,
  optional: [ILauncher, ICommandPalette, ITranslator, IWorkbenchServer],
  activate: (
    app: JupyterFrontEnd,
    launcher: ILauncher | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    server: IWorkbenchServer | null
  ) => {
    const translations = translator ?? nullTranslator;
    const trans = translations.load('tf-distribute-workbench');
    // The name of a part of the launcher is JupyterLab's own text.
    const lab = translations.load('jupyterlab');
    app.commands.addCommand(OPEN, {
      label: args =>
        args['isPalette'] || args['isMenu']
          ? trans.__('New Training Workbench')
          : trans.__('Workbench'),
      caption: trans.__(
        'Train with tf.distribute: pick a strategy, click, watch'
      ),
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
          typeof args['cwd'] === 'string' ? args['cwd'] : undefined,
          server?.choices ?? NOTHING_CHOSEN,
          trans
        )
    });
    launcher?.add({
      command: OPEN,
      category: lab.__('Notebook'),
      rank: 10,
      kernelIconUrl: workbenchIconUrl
    });
    palette?.addItem({
      command: OPEN,
      category: trans.__('Workbench'),
      args: { isPalette: true }
    });
  }
};
