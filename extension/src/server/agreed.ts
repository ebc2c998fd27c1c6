/** Doing something to a run where a person may have to agree to its script. */

import type { Deed } from '../runview/protocol.js';
import type { Row } from './protocol.js';
import { RequestError, UNKNOWN_SCRIPT, type Requests } from './requests.js';

/** Whether a person lets a script that this machine did not start be executed, by its hash. */
export type Agree = (run: string, sha256: string) => Promise<boolean>;

/**
 * Have something done to a run; where that executes an unknown script, only once it is agreed to.
 *
 * @throws RequestError where the server does not do it; Error where it was not agreed to.
 */
export async function actAgreed(
  requests: Requests,
  agree: Agree,
  run: string,
  deed: Deed
): Promise<Row> {
  try {
    return await requests.act(run, deed);
  } catch (reason) {
    const refusal = reason instanceof RequestError ? reason.refusal : null;
    const sha256 = refusal?.script_sha256;
    if (refusal?.reason !== UNKNOWN_SCRIPT || sha256 === undefined) {
      throw reason;
    }
    if (!(await agree(run, sha256))) {
      throw new Error('Not resumed: its script was not agreed to.', {
        cause: reason
      });
    }
    return requests.act(run, deed, sha256);
  }
}
