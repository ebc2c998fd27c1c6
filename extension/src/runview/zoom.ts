/** The visible part of the x axis, and its moves. */

import type { Range } from './plot.js';
import type { Move } from './toolbar.js';

const STEP = 0.25;
const FACTOR = 2;

/** Return the visible part after a move; null is all. */
export function moved(now: Range | null, all: Range, move: Move): Range | null {
  const { min, max } = now ?? all;
  const width = max - min;
  const middle = (min + max) / 2;
  switch (move) {
    case 'all':
      return null;
    case 'left':
      return inside(min - STEP * width, width, all);
    case 'right':
      return inside(min + STEP * width, width, all);
    case 'in':
      return inside(middle - width / FACTOR / 2, width / FACTOR, all);
    case 'out':
      return inside(middle - (width * FACTOR) / 2, width * FACTOR, all);
  }
}

function inside(min: number, width: number, all: Range): Range | null {
  const whole = all.max - all.min;
  if (!(width < whole)) {
    return null;
  }
  const start = Math.max(all.min, Math.min(min, all.max - width));
  return { min: start, max: start + width };
}
