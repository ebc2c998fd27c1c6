/** Actions on a run for which a person may have to agree to its code. */

import type { ActionRequest } from '../runview/protocol.js';
import type { ForeignCode, Row } from './protocol.js';
import { FOREIGN_CODE, RequestError, type Requests } from './requests.js';

/** Asks a person whether code that this machine did not start may be executed. */
export type Agree = (run: string, code: ForeignCode) => Promise<boolean>;

/**
 * Act on a run; if the action executes foreign code, only after a person agrees to this code.
 *
 * @throws RequestError if the server refuses; Error if the person does not agree.
 */
export async function actAgreed(
  requests: Pick<Requests, 'act' | 'trans'>,
  agree: Agree,
  run: string,
  request: ActionRequest
): Promise<Row> {
  try {
    return await requests.act(run, request);
  } catch (reason) {
    const refusal = reason instanceof RequestError ? reason.refusal : null;
    if (refusal?.reason !== FOREIGN_CODE || refusal.code === undefined) {
      throw reason;
    }
    if (!(await agree(run, refusal.code))) {
      const text = requests.trans.__(
        'Not resumed: you did not agree to execute its code.'
      );
      throw new Error(text, { cause: reason });
    }
    return requests.act(run, request, refusal.code.digest);
  }
}
