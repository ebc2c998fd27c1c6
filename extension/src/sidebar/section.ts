/** A part of the sidebar that folds. */

import { make } from '../runview/elements.js';

let made = 0;

/** Put `inside` under a heading whose button hides and shows it. */
export function section(
  title: string,
  className: string,
  inside: HTMLElement
): HTMLElement {
  const fold = make('button', 'jp-WorkbenchSection-fold', title);
  fold.type = 'button';
  inside.id = `jp-WorkbenchSection-${made++}`;
  fold.setAttribute('aria-controls', inside.id);
  const node = make(
    'section',
    `jp-WorkbenchSection ${className}`,
    make('h3', 'jp-WorkbenchSection-title', fold),
    inside
  );
  const show = (open: boolean): void => {
    fold.setAttribute('aria-expanded', String(open));
    inside.hidden = !open;
    node.classList.toggle('jp-mod-folded', !open);
  };
  fold.addEventListener('click', () => show(inside.hidden));
  show(true);
  return node;
}
