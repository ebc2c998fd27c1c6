/** Runs the code in the kernel that shows a workbench. */

import type { Kernel } from '@jupyterlab/services';

import { outcomeOf, type Outcome } from './source.js';
import { Stopped } from './panelErrors.js';

const AGAIN_MS = 15_000;

/** The id of the widget that the code shows; `label` is what people call the kernel. */
export async function widgetOf(
  code: string,
  kernel: Kernel.IKernelConnection,
  label: string
): Promise<string> {
  const outcome = await firstReply(() => outcomeIn(kernel, code));
  if (outcome === undefined) {
    throw new Stopped({ kind: 'silent', kernel: label });
  }
  if ('failure' in outcome) {
    const { failure } = outcome;
    throw new Stopped({ kind: 'raised', kernel: label, failure });
  }
  return outcome.modelId;
}

/** Return the outcome of the code as soon as it is known; undefined if the code ended silently. */
function outcomeIn(
  kernel: Kernel.IKernelConnection,
  code: string
): Promise<Outcome | undefined> {
  const future = kernel.requestExecute({
    code,
    store_history: false,
    allow_stdin: false
  });
  return new Promise((resolve, reject) => {
    future.onIOPub = message => outcomeOf(message).forEach(resolve);
    future.done.then(() => resolve(undefined), reject);
  });
}

/**
 * Return the first reply. A kernel that has just started can silently lose a message, so the
 * request is repeated: the code shows an existing workbench before it makes a new one.
 */
function firstReply<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const attempt = (): void => void ask().then(resolve, reject).finally(rest);
    const timer = window.setInterval(attempt, AGAIN_MS);
    const rest = (): void => window.clearInterval(timer);
    attempt();
  });
}
