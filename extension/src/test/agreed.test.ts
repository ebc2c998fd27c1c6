/** An action that executes foreign code is done only with the code that a person agreed to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { actAgreed } from '../server/agreed.js';
import { ENGLISH as trans } from '../runview/language.js';
import type { Refusal, Row } from '../server/protocol.js';
import { RequestError } from '../server/requests.js';
import { row } from './rows.js';

const CODE = {
  interpreter: '/evil/python',
  working_dir: '/tmp',
  script: 'import os',
  digest: 'd1'
};
const FOREIGN = { message: 'no', reason: 'foreign_code', code: CODE };

/** A server that refuses an action until it gets this digest, and notes each request. */
function server(refusal: Refusal, digest = 'd1') {
  const asked: (string | undefined)[] = [];
  const act = (_run: string, _request: unknown, agreed?: string) => {
    asked.push(agreed);
    return agreed === digest
      ? Promise.resolve<Row>(row('a'))
      : Promise.reject(new RequestError(refusal));
  };
  return { asked, act, trans };
}

test('a person sees interpreter, folder and script, and the request names their digest', async () => {
  const requests = server(FOREIGN);
  const agree = (run: string, code: unknown) => {
    assert.equal(run, 'a');
    assert.deepEqual(code, CODE);
    return Promise.resolve(true);
  };
  const now = await actAgreed(requests, agree, 'a', { name: 'resume' });
  assert.equal(now.id, 'a');
  assert.deepEqual(requests.asked, [undefined, 'd1']);
});

test('without a yes nothing is executed', async () => {
  const requests = server(FOREIGN);
  const no = () => Promise.resolve(false);
  await assert.rejects(
    actAgreed(requests, no, 'a', { name: 'resume' }),
    /you did not agree/
  );
  assert.deepEqual(requests.asked, [undefined]);
});

test('code that changes after the yes is refused', async () => {
  const requests = server(FOREIGN, 'd2');
  const yes = () => Promise.resolve(true);
  await assert.rejects(
    actAgreed(requests, yes, 'a', { name: 'resume' }),
    RequestError
  );
  assert.deepEqual(requests.asked, [undefined, 'd1']);
});

test('another refusal asks nobody', async () => {
  const requests = server({ message: 'It is alive.' });
  const never = () => assert.fail('nobody is asked');
  await assert.rejects(
    actAgreed(requests, never, 'a', { name: 'resume' }),
    /It is alive/
  );
});
