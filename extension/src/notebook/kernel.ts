/** Waiting for a notebook's kernel, and asking a kernel what it holds. */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

/**
 * Wait until a notebook has a kernel, which may be never.
 *
 * `ready` alone does not show it: it also resolves for a notebook opened by "Notebook (no kernel)".
 */
export async function waitForKernel(session: ISessionContext): Promise<void> {
  await session.ready;
  if (session.session?.kernel) {
    return;
  }
  await new Promise<void>(resolve => {
    const follow: Parameters<typeof session.kernelChanged.connect>[0] = (
      _,
      { newValue }
    ) => {
      if (newValue !== null) {
        session.kernelChanged.disconnect(follow);
        resolve();
      }
    };
    session.kernelChanged.connect(follow);
  });
}

/** The ids of the widgets that a kernel holds. */
export async function liveWidgets(
  kernel: Kernel.IKernelConnection
): Promise<Set<string>> {
  const reply = await kernel.requestCommInfo({
    target_name: 'jupyter.widget'
  });
  return new Set(
    reply?.content.status === 'ok' ? Object.keys(reply.content.comms) : []
  );
}
