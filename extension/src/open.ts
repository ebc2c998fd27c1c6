/** The command that opens a workbench in a new notebook, and its places: palette, File > New. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import { NOTHING_CHOSEN, type Beginnings } from './beginnings.js';
import { workbenchIcon } from './icon.js';
import { fillAndRun } from './notebook/notebook.js';
import { IWorkbenchServer } from './server/plugin.js';

const OPEN = 'workbench:open';

/** Opens a notebook whose first cell shows a workbench. */
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
  description:
    'Opens a workbench in a new notebook, from the command palette and the menu.',
  autoStart: true,
  optional: [ICommandPalette, ITranslator, IWorkbenchServer],
  activate: (
    app: JupyterFrontEnd,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    server: IWorkbenchServer | null
  ) => {
    const trans = (translator ?? nullTranslator).load(
      'tf-distribute-workbench'
    );
    app.commands.addCommand(OPEN, {
      label: trans.__('Distributed training in a new notebook'),
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
    palette?.addItem({
      command: OPEN,
      category: trans.__('Workbench'),
      args: { isPalette: true }
    });
  }
};
