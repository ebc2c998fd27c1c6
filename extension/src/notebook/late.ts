/**
 * Widgets in notebooks that were opened without a kernel and got one later.
 *
 * The widget manager (5.0.16) looks for a kernel once, when a notebook is ready; if there is
 * none, it gives up on that notebook, and every later widget in it shows "Loading widget...".
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { waitForKernel } from './kernel.js';

/** Register the notebook with the widget manager once its first kernel comes. */
async function registerLate(panel: NotebookPanel): Promise<void> {
  await panel.sessionContext.ready;
  if (panel.sessionContext.session?.kernel) {
    return;
  }
  await waitForKernel(panel.sessionContext);
  const { registerWidgetManager } =
    await import('@jupyter-widgets/jupyterlab-manager');
  registerWidgetManager(panel.context, panel.content.rendermime, [].values());
}

export const latePlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:late-kernel',
  description: 'Makes widgets work where the kernel comes after the notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app: JupyterFrontEnd, tracker: INotebookTracker) => {
    tracker.widgetAdded.connect((_, panel) => {
      registerLate(panel).catch(reason =>
        console.error('No live widgets in this notebook:', reason)
      );
    });
  }
};
