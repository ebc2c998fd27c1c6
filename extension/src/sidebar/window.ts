/** The visible rows of a long list; all rows have the same height. Pure. */

/** The visible part of a list, in pixels. */
export interface Sighted {
  /** How far it is scrolled. */
  top: number;
  height: number;
  rowHeight: number;
}

/** Return the rows to draw, without `end`: the visible ones and some spare ones. */
export function windowOf(
  { top, height, rowHeight }: Sighted,
  count: number,
  spare: number
): { first: number; end: number } {
  const first = Math.floor(top / rowHeight) - spare;
  const end = Math.ceil((top + height) / rowHeight) + spare;
  const bounded = (at: number) => Math.max(0, Math.min(count, at));
  return { first: bounded(first), end: bounded(end) };
}

/** Return the scroll position that makes a row fully visible with the least scrolling. */
export function scrolledTo(
  at: number,
  { top, height, rowHeight }: Sighted
): number {
  const [first, end] = [at * rowHeight, (at + 1) * rowHeight];
  return Math.min(first, Math.max(top, end - height));
}
