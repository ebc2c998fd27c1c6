/** Asking the server half for something once. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { Deed } from '../runview/protocol.js';
import type { Refusal, Row, RunSeries, Script } from './protocol.js';

/** What the server did not do, with its reason. */
export class RequestError extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** A run to be resumed executes a script that was not started on this machine: its hash. */
export const UNKNOWN_SCRIPT = 'unknown_script';

/** The server half of one folder of runs. Addresses and tokens are those of JupyterLab's settings. */
export class Requests {
  constructor(
    readonly settings: ServerConnection.ISettings,
    /** Within the folder that the server shows; empty: the usual one. */
    readonly folder: string
  ) {}

  /** Do something with a run; `scriptSha256` was agreed to. */
  act(
    run: string,
    { name, epochs, task }: Deed,
    scriptSha256?: string
  ): Promise<Row> {
    return this._ask(['runs', run, name], {
      method: 'POST',
      body: JSON.stringify({ epochs, task, script_sha256: scriptSha256 })
    });
  }

  script(run: string, form: 'py' | 'ipynb' | 'cell'): Promise<Script> {
    return this._ask(['runs', run, 'script'], {}, { form });
  }

  series(run: string): Promise<RunSeries> {
    return this._ask(['runs', run, 'series']);
  }

  /** The status that the server half answers with, 404 where it is not enabled; 0: no answer. */
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
    const address = URLExt.join(
      this.settings.baseUrl,
      'workbench',
      ...path.map(encodeURIComponent)
    );
    const asked = URLExt.objectToQueryString({ ...query, folder: this.folder });
    const reply = await ServerConnection.makeRequest(
      address + asked,
      init,
      this.settings
    );
    const told: unknown = reply.status === 204 ? null : await reply.json();
    if (!reply.ok) {
      const refusal = told as Partial<Refusal>;
      const message = refusal.message ?? `The server answered ${reply.status}.`;
      throw new RequestError({ ...refusal, message });
    }
    return told as Answer;
  }
}
