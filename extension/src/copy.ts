/** A button that copies the text shown beside it. The kernel takes no part. */

import { button, make, setText } from './runview/elements.js';

/** The place of the button and the text, and the text in it. */
const PLACE = '.wb-copied';
const TEXT = 'pre';
const SAID_MS = 4_000;

function render({ el }: { el: HTMLElement }): () => void {
  let timer = 0;
  const key = button('Copy', 'Copy the complete text', () => {
    const shown = el.closest(PLACE)?.querySelector<HTMLElement>(TEXT);
    if (shown) {
      void copied(shown).then(said => {
        setText(state, said);
        window.clearTimeout(timer);
        timer = window.setTimeout(() => setText(state, ''), SAID_MS);
      });
    }
  });
  key.className = 'jupyter-button widget-button wb-small';
  const state = make('span', 'wb-quiet');
  state.setAttribute('role', 'status');
  el.append(make('div', 'wb-row', state, key));
  return () => window.clearTimeout(timer);
}

/** Copy a text, or select it if the page may not copy; return what to tell the person. */
async function copied(shown: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(shown.textContent);
    return 'Copied';
  } catch {
    window.getSelection()?.selectAllChildren(shown);
    return `Press ${/Mac/.test(navigator.platform) ? 'Cmd' : 'Ctrl'}+C`;
  }
}

export default { render };
