/** Running the cells of a notebook that open a workbench. */

import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

import { beside, type Beginnings } from '../beginnings.js';
import { AUTORUN_TAG, runsAtOpening, workbenchSource } from './cells.js';
import { liveWidgets } from './kernel.js';
import { WIDGET_MIME } from '../mime.js';

/** Wait until a notebook is loaded and its kernel is there to run cells. */
export async function kernelReady(panel: NotebookPanel): Promise<void> {
  await panel.context.ready;
  await panel.sessionContext.ready;
}

/** Make the first cell of a new notebook open a workbench, run it, and save. */
export async function fillAndRun(
  panel: NotebookPanel,
  beginnings: Beginnings
): Promise<void> {
  await kernelReady(panel);
  const cell = panel.content.widgets[0];
  if (cell === undefined) {
    return;
  }
  const chosen = beside(panel.context.localPath, beginnings);
  cell.model.sharedModel.setSource(workbenchSource(chosen));
  cell.model.setMetadata('tags', [AUTORUN_TAG]);
  await run(panel, [cell]);
  await panel.context.save();
}

/**
 * Run the cells that ask for it, except cells whose widget still lives in the kernel, and save:
 * a page that is loaded again finds the live view in the notebook's file.
 */
export async function runAtOpening(panel: NotebookPanel): Promise<void> {
  await kernelReady(panel);
  const asking = panel.content.widgets.filter(cell =>
    runsAtOpening(
      cell.model.sharedModel.getSource(),
      cell.model.getMetadata('tags')
    )
  );
  if (asking.length === 0) {
    return;
  }
  const kernel = panel.sessionContext.session?.kernel;
  const alive = kernel ? await liveWidgets(kernel) : new Set<string>();
  const cells = asking.filter(
    cell => !widgetsOf(cell).some(id => alive.has(id))
  );
  await run(panel, cells);
  await panel.context.save();
}

async function run(panel: NotebookPanel, cells: Cell[]): Promise<void> {
  if (cells.length > 0) {
    await NotebookActions.runCells(panel.content, cells, panel.sessionContext);
  }
}

function widgetsOf(cell: Cell): string[] {
  if (cell.model.type !== 'code') {
    return [];
  }
  const outputs = (cell.model as ICodeCellModel).outputs;
  const ids: string[] = [];
  for (let index = 0; index < outputs.length; index++) {
    const view = outputs.get(index).data[WIDGET_MIME] as
      { model_id?: string } | undefined;
    if (view?.model_id) {
      ids.push(view.model_id);
    }
  }
  return ids;
}
