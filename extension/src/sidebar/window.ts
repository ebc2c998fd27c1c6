/** Which rows of a long list are in sight; all rows are of one height. Pure. */

/** What a list looks at, in pixels. */
export interface Sighted {
  /** How far it is scrolled. */
  top: number;
  height: number;
  rowHeight: number;
}

/** The rows to be drawn, `end` being the first that is not: those in sight and some to spare. */
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

/** Where to scroll so that a row is wholly in sight: as little as possible. */
export function scrolledTo(
  at: number,
  { top, height, rowHeight }: Sighted
): number {
  const [first, end] = [at * rowHeight, (at + 1) * rowHeight];
  return Math.min(first, Math.max(top, end - height));
}
