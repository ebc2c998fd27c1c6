/** The JupyterLab plugins of the workbench. Each works without the others. */

import { fileLinksPlugin } from './notebook/fileLinks.js';
import { latePlugin } from './notebook/late.js';
import { comparePlugin } from './main/comparePlugin.js';
import { runPlugin } from './main/runPlugin.js';
import { openPlugin } from './open.js';
import { panelPlugin } from './panel/plugin.js';
import { renewalPlugin } from './notebook/renewal.js';
import { serverPlugin } from './server/plugin.js';
import { sidebarPlugin } from './sidebar/plugin.js';
import { snapshotPlugin } from './notebook/snapshot.js';
import { statusPlugin } from './status/plugin.js';

export default [
  openPlugin,
  panelPlugin,
  snapshotPlugin,
  renewalPlugin,
  latePlugin,
  fileLinksPlugin,
  serverPlugin,
  sidebarPlugin,
  runPlugin,
  comparePlugin,
  statusPlugin
];
