/** What a key means in the list of runs. Pure. */

import type { How } from './selection.js';

type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'
>;

export type Intent =
  | { to: number; how: How }
  | 'toggle'
  | 'open'
  | 'delete'
  | 'menu'
  | 'all'
  | 'none';

/** The meaning of a key at a row of so many, `page` of which are in sight; null: none here. */
export function intentOf(
  event: Key,
  at: number,
  count: number,
  page: number
): Intent | null {
  const { key, shiftKey, altKey } = event;
  const control = event.ctrlKey || event.metaKey;
  if (altKey) {
    return null;
  }
  const to = target(key, at, count, page);
  if (to !== null) {
    return { to, how: shiftKey ? 'range' : control ? 'walk' : 'only' };
  }
  if (control) {
    return key === 'a' && !shiftKey ? 'all' : key === ' ' ? 'toggle' : null;
  }
  if (shiftKey) {
    return key === 'F10' ? 'menu' : null;
  }
  return PLAIN[key] ?? null;
}

const PLAIN: Record<string, Intent> = {
  ' ': 'toggle',
  Enter: 'open',
  Delete: 'delete',
  ContextMenu: 'menu',
  Escape: 'none'
};

function target(
  key: string,
  at: number,
  count: number,
  page: number
): number | null {
  const moves: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1
  };
  const to = Object.hasOwn(moves, key) ? moves[key]! : null;
  return to === null || count === 0
    ? null
    : Math.max(0, Math.min(count - 1, to));
}
