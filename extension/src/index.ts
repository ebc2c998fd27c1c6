/** The JupyterLab plugins of the workbench. Each stands alone: where one cannot work, the others do. */

import { arrivalPlugin } from './arrival.js';
import { latePlugin } from './late.js';
import { openPlugin } from './open.js';
import { snapshotPlugin } from './snapshot.js';

export default [openPlugin, arrivalPlugin, snapshotPlugin, latePlugin];
