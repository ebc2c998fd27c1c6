/** Keys pressed in the workbench, which the notebook around it must not take as its shortcuts. */

const WORKBENCH = '.wb-root, .wbv';
const NOTEBOOK = '.jp-Notebook, #notebook';
const SUPPRESS = 'data-lm-suppress-shortcuts';
/** With Ctrl or Cmd, these select all cells, merge or split cells, and undo changes of cells. */
const OF_NOTEBOOKS = 'amyz-_';

type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'
>;

/** Whether a key is a shortcut of the application, such as Ctrl+S; the notebook has all others. */
export function isOfApplication(event: Key): boolean {
  const key = event.key.toLowerCase();
  return (
    (event.ctrlKey || event.metaKey) &&
    key.length === 1 &&
    !OF_NOTEBOOKS.includes(key)
  );
}

/**
 * Keep keys that are pressed inside the workbench from the notebook: else D, D deletes its cell.
 *
 * JupyterLab and Notebook 7 look for the attribute in the first phase of the event, which reaches
 * the window before them. Classic Notebook waits for the event in its last phase, at the document.
 */
export function keepKeys(page: Window): void {
  const kept = page as Window & { workbenchKeepsKeys?: boolean };
  if (kept.workbenchKeepsKeys) {
    return;
  }
  kept.workbenchKeepsKeys = true;
  page.addEventListener('keydown', suppress, { capture: true });
  page.document.body.addEventListener('keydown', event => {
    if (workbenchOf(event) !== null && !isOfApplication(event)) {
      event.stopPropagation();
    }
  });
}

/**
 * Mark the element that has the focus: shortcuts for `:focus` match it before its ancestors.
 */
function suppress(event: KeyboardEvent): void {
  if (workbenchOf(event) !== null) {
    (event.target as Element).toggleAttribute(
      SUPPRESS,
      !isOfApplication(event)
    );
  }
}

/** Return the workbench of a notebook in which a key was pressed; null in panels and elsewhere. */
function workbenchOf(event: KeyboardEvent): Element | null {
  const from = event.target;
  const found = from instanceof Element ? from.closest(WORKBENCH) : null;
  return found?.closest(NOTEBOOK) ? found : null;
}
