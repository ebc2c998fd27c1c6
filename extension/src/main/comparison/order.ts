/** The order of the compared runs in their table, by the values of one column. Pure. */

/** A column that runs can be sorted by. */
export interface Sorting {
  name: string;
  /** A value for each run; null is unknown. */
  values: (number | string | null)[];
  /** Whether the greatest value is on top until the order is turned. */
  greatestFirst?: boolean;
}

export interface Order {
  /** The name of the column. */
  column: string;
  /** Whether the worst is on top. */
  turned: boolean;
}

/** Return an order that was kept; null, as listed, if it is none. */
export function keptOrder(value: unknown): Order | null {
  const { column, turned } = (value ?? {}) as Partial<Order>;
  return typeof column === 'string' && typeof turned === 'boolean'
    ? { column, turned }
    : null;
}

/**
 * Return the order after a click on a column: the best on top, then the worst, then null: as
 * listed.
 */
export function afterClick(order: Order | null, column: string): Order | null {
  if (order?.column !== column) {
    return { column, turned: false };
  }
  return order.turned ? null : { column, turned: true };
}

/** Whether the values of the column fall from the top. */
export function falls({ turned }: Order, { greatestFirst }: Sorting): boolean {
  return (greatestFirst ?? false) !== turned;
}

/** Return the numbers of the runs from the top; those with an unknown value come last. */
export function inOrder(
  runs: number,
  sortings: Sorting[],
  order: Order | null
): number[] {
  const all = Array.from({ length: runs }, (_, at) => at);
  const by = sortings.find(({ name }) => name === order?.column);
  if (by === undefined || order === null) {
    return all;
  }
  const { values } = by;
  const sign = falls(order, by) ? -1 : 1;
  const known = all.filter(at => values[at] !== null);
  known.sort((a, b) => sign * compared(values[a]!, values[b]!));
  return [...known, ...all.filter(at => values[at] === null)];
}

function compared(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
}
