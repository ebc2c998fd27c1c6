/**
 * Newer saved views for notebooks that were loaded again while their kernel lived.
 *
 * A notebook's file does not hold the ids by which a kernel updates outputs, so JupyterLab (4.6)
 * drops each update of an output that it has loaded. The notebook would keep the view of an
 * earlier run. Here such an output is found by the name that its HTML carries.
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import type { ICodeCellModel } from '@jupyterlab/cells';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';

import { HTML_MIME } from '../mime.js';
import { savedViewOf } from './savedView.js';

/** Put the content of an update into the output with the same saved view, unless it is there. */
function renew(panel: NotebookPanel, message: KernelMessage.IMessage): void {
  if (!KernelMessage.isUpdateDisplayDataMsg(message)) {
    return;
  }
  const { data, metadata } = message.content;
  const view = savedViewOf(data[HTML_MIME]);
  if (view === null) {
    return;
  }
  for (const cell of panel.content.model?.cells ?? []) {
    if (cell.type !== 'code') {
      continue;
    }
    const { outputs } = cell as ICodeCellModel;
    for (let index = 0; index < outputs.length; index++) {
      const output = outputs.get(index);
      const html = output.data[HTML_MIME];
      if (savedViewOf(html) === view && html !== data[HTML_MIME]) {
        outputs.set(index, { ...output.toJSON(), data, metadata });
      }
    }
  }
}

export const renewalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:renewal',
  description: 'Keeps the saved view of a notebook up to date after a reload.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app: JupyterFrontEnd, tracker: INotebookTracker) => {
    const follow = (panel: NotebookPanel) => {
      panel.sessionContext.iopubMessage.connect((_, message) =>
        renew(panel, message)
      );
    };
    tracker.forEach(follow);
    tracker.widgetAdded.connect((_, panel) => follow(panel));
  }
};
