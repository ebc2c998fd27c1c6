/** Short ways to make the elements of the view; text never becomes markup. */

/** An element with a class and text or children. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = '',
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className) {
    element.className = className;
  }
  element.append(...inside);
  return element;
}

/** A button with a label and a tooltip. */
export function button(
  label: string,
  tip: string,
  clicked: () => void
): HTMLButtonElement {
  const element = make('button', 'wbv-button', label);
  element.type = 'button';
  element.title = tip;
  element.addEventListener('click', clicked);
  return element;
}

/** Scroll to the end of a text, once it is laid out. */
export function scrollToEnd(element: HTMLElement): void {
  requestAnimationFrame(() => {
    element.scrollTop = element.scrollHeight;
  });
}

/** A control with its name before it. */
export function named(name: string, control: HTMLElement): HTMLElement {
  return make('label', 'wbv-named', `${name} `, control);
}

/** Set the text of an element if it differs, to avoid a needless layout. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** A table of plain text; all columns except the first `textColumns` are numbers. */
export function table(
  caption: string,
  columns: string[],
  rows: string[][],
  textColumns = 1
): HTMLTableElement {
  const made = make('table', 'wbv-table');
  made.createCaption().textContent = caption;
  const line = (cells: string[], tag: 'th' | 'td') => {
    const row = make('tr');
    row.append(
      ...cells.map((cell, at) =>
        make(tag, at >= textColumns ? 'wbv-number' : '', cell)
      )
    );
    return row;
  };
  const head = made.createTHead();
  head.append(line(columns, 'th'));
  made.createTBody().append(...rows.map(cells => line(cells, 'td')));
  return made;
}
