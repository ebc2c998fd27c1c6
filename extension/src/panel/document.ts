/** What the widget manager asks of a document, for a panel that has none. */

import type { Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

/** The module of the widget manager, which not every JupyterLab has. */
export type Manager = typeof import('@jupyter-widgets/jupyterlab-manager');

export type Context = Parameters<Manager['registerWidgetManager']>[0];

/**
 * The stand-in for the document of a session.
 *
 * The widget manager (5.0.16) knows all installed widgets only where it is made for a document; of
 * that it uses the kernel, its signals, and the place where a notebook would save widgets.
 */
export function documentOf(session: Session.ISessionConnection): Context {
  const { kernelChanged, statusChanged, connectionStatusChanged } = session;
  const standIn = {
    path: session.path,
    sessionContext: {
      session,
      ready: Promise.resolve(),
      kernelChanged,
      statusChanged,
      connectionStatusChanged
    },
    model: { getMetadata: () => undefined, setMetadata: () => undefined },
    saveState: new Signal({}),
    urlResolver: {
      resolveUrl: async (url: string) => url,
      getDownloadUrl: async (url: string) => url
    }
  };
  return standIn as unknown as Context;
}
