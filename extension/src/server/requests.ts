/** Single requests to the server half. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { Translation } from '../runview/language.js';
import type { ActionRequest } from '../runview/protocol.js';
import type { Refusal, Row, Script } from './protocol.js';
import { seriesIn, type SeriesAnswer } from './series.js';

/** A request that the server refused, with its reason. */
export class RequestError extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** The reason of a refusal: the action would execute code that this machine did not start. */
export const FOREIGN_CODE = 'foreign_code';

/** The server half of one folder of runs. Addresses and tokens come from JupyterLab's settings. */
export class Requests {
  constructor(
    readonly settings: ServerConnection.ISettings,
    /** Within the folder that the server shows; empty: the default folder. */
    readonly folder: string,
    readonly trans: Translation
  ) {}

  /** Act on a run; `agreed` is the digest of the code that a person agreed to. */
  act(
    run: string,
    { name, epochs, task }: ActionRequest,
    agreed?: string
  ): Promise<Row> {
    return this._ask(['runs', run, name], {
      method: 'POST',
      body: JSON.stringify({ epochs, task, agreed })
    });
  }

  script(run: string, form: 'py' | 'ipynb' | 'cell'): Promise<Script> {
    return this._ask(['runs', run, 'script'], {}, { form });
  }

  /** Return the curves of the first of these runs, as many as the server reads in a moment. */
  async series(runs: string[]): Promise<SeriesAnswer[]> {
    const reply = await this._reply(['series'], {}, { runs: runs.join(',') });
    return seriesIn(await reply.arrayBuffer());
  }

  /** Return the HTTP status of the server half: 404 if it is not enabled, 0 without an answer. */
  async status(): Promise<number> {
    try {
      const address = URLExt.join(this.settings.baseUrl, 'workbench/devices');
      const { makeRequest } = ServerConnection;
      return (await makeRequest(address, {}, this.settings)).status;
    } catch {
      return 0;
    }
  }

  private async _ask<Answer>(
    path: string[],
    init: RequestInit = {},
    query: Record<string, string> = {}
  ): Promise<Answer> {
    const reply = await this._reply(path, init, query);
    return (reply.status === 204 ? null : await reply.json()) as Answer;
  }

  /** Return the answer to a request, or throw the reason why the server refused it. */
  private async _reply(
    path: string[],
    init: RequestInit = {},
    query: Record<string, string> = {}
  ): Promise<Response> {
    const address = URLExt.join(
      this.settings.baseUrl,
      'workbench',
      ...path.map(encodeURIComponent)
    );
    const queryString = URLExt.objectToQueryString({
      ...query,
      folder: this.folder
    });
    const reply = await ServerConnection.makeRequest(
      address + queryString,
      init,
      this.settings
    );
    if (!reply.ok) {
      const refusal = (await reply.json()) as Partial<Refusal>;
      const message =
        refusal.message ??
        this.trans.__('The server answered with HTTP status %1.', reply.status);
      throw new RequestError({ ...refusal, message });
    }
    return reply;
  }
}
