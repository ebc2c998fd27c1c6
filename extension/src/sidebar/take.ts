/** Exports of a run's script: to a notebook, to a file, into a cell. */

import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { ServerConnection, type Contents } from '@jupyterlab/services';

import type { Script } from '../server/protocol.js';

/** Save a script in a folder, with a number if its name is taken, and return the path. */
export async function saved(
  contents: Contents.IManager,
  folder: string,
  script: Script
): Promise<string> {
  const path = await freePath(contents, folder, script.name);
  const notebook = script.name.endsWith('.ipynb');
  await contents.save(path, {
    type: notebook ? 'notebook' : 'file',
    format: notebook ? 'json' : 'text',
    content: notebook ? JSON.parse(script.text) : script.text
  });
  return path;
}

/** Put code where a person is in a notebook: into the cell if it is empty, else into one below. */
export async function putIntoCell(
  { content, context }: NotebookPanel,
  source: string
): Promise<void> {
  await context.ready; // what is put there before is lost when the file comes
  const { activeCell, model } = content;
  const empty = activeCell?.model.sharedModel.getSource().trim() === '';
  if (activeCell?.model.type === 'code' && empty) {
    activeCell.model.sharedModel.setSource(source);
    return;
  }
  const below = content.activeCellIndex + 1;
  model?.sharedModel.insertCell(below, { cell_type: 'code', source });
  content.activeCellIndex = below;
  await content.scrollToItem(below);
}

async function freePath(
  contents: Contents.IManager,
  folder: string,
  name: string
): Promise<string> {
  const extension = PathExt.extname(name);
  const stem = name.slice(0, name.length - extension.length);
  for (let number = 0; ; number++) {
    const tried = number === 0 ? name : `${stem}-${number}${extension}`;
    const path = PathExt.join(folder, tried);
    if (!(await isThere(contents, path))) {
      return path;
    }
  }
}

async function isThere(
  contents: Contents.IManager,
  path: string
): Promise<boolean> {
  try {
    await contents.get(path, { content: false });
    return true;
  } catch (reason) {
    if (
      reason instanceof ServerConnection.ResponseError &&
      reason.response.status === 404
    ) {
      return false;
    }
    throw reason;
  }
}
