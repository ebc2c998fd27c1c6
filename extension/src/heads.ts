/** The heads of a table that the kernel draws: their clicks, and the focus when it draws again. */

/** The place of the table and this widget, and the name of the order in a head. */
const PLACE = '.wb-sorted';
const HEAD = '[data-sort]';

interface Model {
  send(content: { sort: string }): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let focused: string | null = null;
  const place = () => el.closest(PLACE);

  /** Return the name of the order of the head with this element; null if it is in no head. */
  function sortOf(target: EventTarget | null): string | null {
    const head = (target as Element | null)?.closest?.<HTMLElement>(HEAD);
    return head && place()?.contains(head) ? head.dataset.sort! : null;
  }

  const redrawn = new MutationObserver(() => {
    if (focused !== null && document.activeElement === document.body) {
      place()?.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus();
    }
  });

  function onClick({ target }: MouseEvent): void {
    const sort = sortOf(target);
    if (sort !== null) {
      model.send({ sort });
    }
  }

  function onFocus({ target }: FocusEvent): void {
    focused = sortOf(target);
    redrawn.disconnect();
    const table = place();
    if (focused !== null && table !== null) {
      redrawn.observe(table, { childList: true, subtree: true });
    }
  }

  document.addEventListener('click', onClick);
  document.addEventListener('focusin', onFocus);
  return () => {
    redrawn.disconnect();
    document.removeEventListener('click', onClick);
    document.removeEventListener('focusin', onFocus);
  };
}

export default { render };
