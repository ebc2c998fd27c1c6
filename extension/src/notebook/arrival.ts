/** What happens if `workbench lab` opens JupyterLab with the name of a notebook. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { notebookOf, withoutNotebook } from './address.js';
import { runAtOpening } from './notebook.js';

/** Opens the notebook and runs its workbench cells; a notification reports a failure. */
async function arrive(app: JupyterFrontEnd, path: string): Promise<void> {
  try {
    await app.restored;
    const panel = (await app.commands.execute('docmanager:open', {
      path,
      factory: 'Notebook'
    })) as NotebookPanel | undefined;
    if (panel === undefined) {
      throw new Error('it is not in the folder that JupyterLab shows');
    }
    await runAtOpening(panel);
  } catch (reason) {
    Notification.error(`The workbench could not open ${path}: ${reason}`, {
      autoClose: false
    });
  } finally {
    history.replaceState(history.state, '', withoutNotebook(location.href));
  }
}

export const arrivalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:arrival',
  description:
    'Opens the notebook named by the address and runs its workbench.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    const path = notebookOf(location.href);
    if (path !== null) {
      void arrive(app, path);
    }
  }
};
