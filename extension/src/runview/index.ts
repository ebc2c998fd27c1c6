/** The run view as a module: for JupyterLab's panels, over any source. */

export { ENGLISH, type Translation } from './language.js';
export * from './protocol.js';
export { RunView } from './view.js';
export type { Wording } from './wording.js';
