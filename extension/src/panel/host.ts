/** The services of JupyterLab that panels need. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { PageConfig } from '@jupyterlab/coreutils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { SessionAPI, type Session } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Manager } from './document.js';
import { lostSessions } from './sessions.js';
import type { Source } from './source.js';
import { MANAGER, Stopped } from './panelErrors.js';

/** A kernel that the server can start. */
export interface KernelChoice {
  name: string;
  label: string;
}

export class Host {
  constructor(
    private readonly _app: JupyterFrontEnd,
    readonly rendermime: IRenderMimeRegistry,
    readonly trans: TranslationBundle,
    readonly source: Source
  ) {}

  /** The widget manager's module. */
  async manager(): Promise<Manager> {
    const id = `${MANAGER}:plugin`;
    if (!this._app.hasPlugin(id)) {
      const disabled = PageConfig.Extension.isDisabled(id);
      throw new Stopped({ kind: 'no widgets', disabled });
    }
    return import('@jupyter-widgets/jupyterlab-manager');
  }

  /** The kernels to choose from, the server's default first. */
  async kernels(): Promise<KernelChoice[]> {
    const { kernelspecs } = this._app.serviceManager;
    await kernelspecs.ready;
    const { specs } = kernelspecs;
    const all = Object.entries(specs?.kernelspecs ?? {});
    const first = (name: string) => Number(name !== specs?.default);
    return all
      .map(([name, spec]) => ({ name, label: spec?.display_name ?? name }))
      .sort((a, b) => first(a.name) - first(b.name));
  }

  /** What people call a kernel of this name. */
  async label(kernel: string): Promise<string> {
    const choices = await this.kernels();
    return choices.find(({ name }) => name === kernel)?.label ?? kernel;
  }

  /** Start a kernel with a session of this path. */
  start(path: string, kernel: string): Promise<Session.ISessionConnection> {
    return this._sessions.startNew({
      path,
      type: 'console',
      name: this.trans.__('Distributed training'),
      kernel: { name: kernel }
    });
  }

  /** The running session of this path. */
  async find(path: string): Promise<Session.ISessionConnection> {
    const model = await this._sessions.findByPath(path);
    if (!model?.kernel) {
      throw new Stopped({ kind: 'ended' });
    }
    return this._sessions.connectTo({ model });
  }

  /** The last used session whose panel was lost with its page; others are shut down. */
  async adopt(): Promise<Session.IModel | undefined> {
    const models = await SessionAPI.listRunning(this._sessions.serverSettings);
    const [newest, ...others] = lostSessions(models);
    others.forEach(({ id }) => void this.end(id));
    return newest;
  }

  /** Shut down a session and its kernel; a failure means that it has already ended. */
  async end(id: string): Promise<void> {
    try {
      await this._sessions.shutdown(id);
    } catch (reason) {
      console.warn('The kernel of a workbench could not be shut down:', reason);
    }
  }

  private get _sessions(): Session.IManager {
    return this._app.serviceManager.sessions;
  }
}
