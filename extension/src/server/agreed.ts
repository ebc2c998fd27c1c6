/** Actions on a run for which a person may have to agree to its script. */

import type { ActionRequest } from '../runview/protocol.js';
import type { Row } from './protocol.js';
import { RequestError, UNKNOWN_SCRIPT, type Requests } from './requests.js';

/** Asks a person whether a script that this machine did not start may be executed; by its hash. */
export type Agree = (run: string, sha256: string) => Promise<boolean>;

/**
 * Act on a run; if the action executes an unknown script, only after a person agrees.
 *
 * @throws RequestError if the server refuses; Error if the person does not agree.
 */
export async function actAgreed(
  requests: Requests,
  agree: Agree,
  run: string,
  request: ActionRequest
): Promise<Row> {
  try {
    return await requests.act(run, request);
  } catch (reason) {
    const refusal = reason instanceof RequestError ? reason.refusal : null;
    const sha256 = refusal?.script_sha256;
    if (refusal?.reason !== UNKNOWN_SCRIPT || sha256 === undefined) {
      throw reason;
    }
    if (!(await agree(run, sha256))) {
      throw new Error('Not resumed: you did not agree to execute its script.', {
        cause: reason
      });
    }
    return requests.act(run, request, sha256);
  }
}
