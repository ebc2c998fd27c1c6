/** What happens if `workbench lab` opens JupyterLab with the name of a notebook. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import { notebookOf, withoutNotebook } from './address.js';
import { runAtOpening } from './notebook.js';

/** Opens the notebook and runs its workbench cells; a notification reports a failure. */
async function arrive(
  app: JupyterFrontEnd,
  path: string,
  trans: TranslationBundle
): Promise<void> {
  try {
    await app.restored;
    const panel = (await app.commands.execute('docmanager:open', {
      path,
      factory: 'Notebook'
    })) as NotebookPanel | undefined;
    if (panel === undefined) {
      throw new Error(
        trans.__('it is not in the folder that JupyterLab shows')
      );
    }
    await runAtOpening(panel);
  } catch (reason) {
    Notification.error(
      trans.__('The workbench could not open %1: %2', path, String(reason)),
      { autoClose: false }
    );
  } finally {
    history.replaceState(history.state, '', withoutNotebook(location.href));
  }
}

export const arrivalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:arrival',
  description:
    'Opens the notebook named by the address and runs its workbench.',
  autoStart: true,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null) => {
    const path = notebookOf(location.href);
    if (path !== null) {
      const trans = (translator ?? nullTranslator).load(
        'tf-distribute-workbench'
      );
      void arrive(app, path, trans);
    }
  }
};
