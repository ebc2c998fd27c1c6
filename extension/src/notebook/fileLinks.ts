/** Links to saved files: JupyterLab opens them as tabs, Notebook 7 on their own pages. */

import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';

/** Made by `workbench/widgets/parts/saved.py`; the path of a folder ends with a slash. */
const LINK = 'a[data-wb-file]';

export const fileLinksPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:file-links',
  description: 'Opens the files that the workbench saved.',
  autoStart: true,
  optional: [ILabShell],
  activate: (app: JupyterFrontEnd, lab: ILabShell | null) => {
    document.body.addEventListener('click', event => {
      const link = linkOf(event);
      if (link === null) {
        return;
      }
      const path = link.dataset['wbFile'] ?? '';
      if (lab === null) {
        link.href = URLExt.join(
          PageConfig.getBaseUrl(),
          placeOf(path),
          URLExt.encodeParts(path)
        );
        return;
      }
      event.preventDefault();
      const open = path.endsWith('/')
        ? 'filebrowser:open-path'
        : 'docmanager:open';
      void app.commands.execute(open, { path });
    });
  }
};

/** The part of Notebook 7's addresses whose pages show this file or folder. */
function placeOf(path: string): string {
  if (path.endsWith('/')) {
    return 'tree';
  }
  if (path.endsWith('.ipynb')) {
    return 'notebooks';
  }
  return /\.(html|png|svg)$/.test(path) ? 'files' : 'edit';
}

/** The link that was clicked; null for other clicks, and with a key that opens another tab. */
function linkOf(event: MouseEvent): HTMLAnchorElement | null {
  const to = event.target;
  const other = event.ctrlKey || event.metaKey || event.shiftKey;
  return to instanceof Element && !other
    ? to.closest<HTMLAnchorElement>(LINK)
    : null;
}
