/** The URL parameter by which `workbench lab` names the notebook to open. Pure. */

const PARAMETER = 'workbench';

/** The notebook named by an address, or null where it names none. */
export function notebookOf(address: string): string | null {
  const path = new URL(address).searchParams.get(PARAMETER);
  return path !== null && path.endsWith('.ipynb') ? path : null;
}

/** The same address without the parameter, so that a reload does not run anything again. */
export function withoutNotebook(address: string): string {
  const url = new URL(address);
  url.searchParams.delete(PARAMETER);
  return url.toString();
}
