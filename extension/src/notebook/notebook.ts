/** The new notebook that opens a workbench. */

import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

import { beside, workbenchSource, type Beginnings } from '../beginnings.js';

/** Make the first cell of a new notebook open a workbench, run it, and save. */
export async function fillAndRun(
  panel: NotebookPanel,
  beginnings: Beginnings
): Promise<void> {
  await panel.context.ready;
  await panel.sessionContext.ready;
  // The widget manager reads the states of all widgets when the kernel connects. Read while the
  // cell runs, they replace newer ones (jupyter-widgets/ipywidgets#2570).
  await panel.sessionContext.session?.kernel?.info;
  const cell = panel.content.widgets[0];
  if (cell === undefined) {
    return;
  }
  const chosen = beside(panel.context.localPath, beginnings);
  cell.model.sharedModel.setSource(workbenchSource(chosen));
  await NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
  await panel.context.save();
}
