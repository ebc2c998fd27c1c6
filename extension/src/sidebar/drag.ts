/** Dragging runs into a notebook: each becomes the cell that opens it. */

import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';

import { make } from '../runview/elements.js';

const CELLS = 'application/vnd.jupyter.cells';
const FAR_PX = 5;

/**
 * Start a drag when the pointer has moved far enough with its button held; `sources` returns the
 * code of the cells, none if there is nothing to drag; `name` is the text under the pointer.
 */
export function dragCells(
  { clientX, clientY, target }: PointerEvent,
  name: string,
  sources: () => Promise<string[]>
): void {
  const over = new AbortController();
  const { signal } = over;
  let last: PointerEvent | null = null;
  const follow = (event: PointerEvent): void => {
    const began = last !== null;
    const far = Math.hypot(event.clientX - clientX, event.clientY - clientY);
    if (began || far >= FAR_PX) {
      last = event;
    }
    if (!began && last !== null) {
      void sources().then(cells => {
        if (!signal.aborted && cells.length > 0) {
          void start(cells, name, target, last!);
        }
        over.abort();
      });
    }
  };
  const leave = (): void => over.abort();
  document.addEventListener('pointermove', follow, { signal });
  document.addEventListener('pointerup', leave, { signal });
  document.addEventListener('pointercancel', leave, { signal });
}

function start(
  sources: string[],
  name: string,
  source: EventTarget | null,
  { clientX, clientY }: PointerEvent
): Promise<unknown> {
  const mimeData = new MimeData();
  const cells = sources.map(text => ({
    cell_type: 'code',
    source: text,
    metadata: {},
    outputs: [],
    execution_count: null
  }));
  mimeData.setData(CELLS, cells);
  mimeData.setData('text/plain', sources.join('\n\n'));
  const drag = new Drag({
    mimeData,
    dragImage: make('div', 'jp-WorkbenchRuns-dragged', name),
    supportedActions: 'copy-move',
    proposedAction: 'copy',
    source
  });
  return drag.start(clientX, clientY);
}
