/** Rows of runs as the server would send them, for tests. */

import type { Row } from '../server/protocol.js';

export function row(id: string, more: Partial<Row> = {}): Row {
  return {
    id,
    name: '',
    title: `Title of ${id}`,
    about: 'Mirrored on 2 virtual devices',
    created: 1000,
    status: 'finished',
    alive: false,
    actions: [],
    error: '',
    ...more
  };
}

export function living(id: string, more: Partial<Row> = {}): Row {
  return row(id, { status: 'running', alive: true, ...more });
}
