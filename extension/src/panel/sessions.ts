/** The sessions of panels: a kernel each, found again by its path. Pure. */

import type { Session } from '@jupyterlab/services';

const PREFIX = 'workbench-';
const OURS = new RegExp(`^${PREFIX}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);

/** The path of a new panel's session. */
export function pathOf(uuid: string): string {
  return PREFIX + uuid;
}

/**
 * The sessions whose panel was lost, the last used first.
 *
 * A page that shows a panel is connected to its kernel; if a server does not report the
 * number of connections, no session counts as lost.
 */
export function lostSessions(models: Session.IModel[]): Session.IModel[] {
  return models
    .filter(({ path, kernel }) => OURS.test(path) && kernel?.connections === 0)
    .sort((a, b) => lastUse(b).localeCompare(lastUse(a)));
}

function lastUse({ kernel }: Session.IModel): string {
  return kernel?.last_activity ?? '';
}
