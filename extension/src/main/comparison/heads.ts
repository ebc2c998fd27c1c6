/** The heads of the comparison's table: buttons that sort it. */

import { button, make } from '../../runview/elements.js';
import type { Translation } from '../../runview/language.js';
import { falls, type Order, type Sorting } from './order.js';

/** The head of a column or, with `row` as scope, of a run. */
export function heading(
  text: string,
  className = '',
  scope: 'col' | 'row' = 'col'
): HTMLTableCellElement {
  const cell = make('th', className, text);
  cell.scope = scope;
  return cell;
}

/** The head of a column as a button; `order` is not null if the runs are sorted by this column. */
export function sortHead(
  sorting: Sorting,
  className: string,
  order: Order | null,
  trans: Translation,
  clicked: () => void
): HTMLTableCellElement {
  const { name } = sorting;
  const cell = heading('', className);
  const key = button(name, tipOf(order, trans), clicked);
  key.className = 'jp-WorkbenchCompare-sort';
  key.dataset.key = `sort-${name}`;
  cell.append(key);
  if (order !== null) {
    const down = falls(order, sorting);
    cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const arrow = make('span', '', down ? '▼' : '▲');
    arrow.setAttribute('aria-hidden', 'true');
    key.append(arrow);
  }
  return cell;
}

function tipOf(order: Order | null, trans: Translation): string {
  if (order === null) {
    return trans.__('Sort by this column');
  }
  return order.turned
    ? trans.__('Restore the original order')
    : trans.__('Reverse the order');
}
