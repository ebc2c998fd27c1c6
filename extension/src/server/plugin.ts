/** The server half, for all plugins that show runs and devices. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { URLExt } from '@jupyterlab/coreutils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import { Requests } from './requests.js';
import { Stream } from './stream.js';

/** The user's settings; see `schema/server.json`. */
export interface Choices {
  runsFolder: string;
  devicesSeconds: number;
  runsSeconds: number;
  notifyFinished: boolean;
  notifyFailed: boolean;
  preset: string;
}

const DEFAULTS: Choices = {
  runsFolder: '',
  devicesSeconds: 1,
  runsSeconds: 1,
  notifyFinished: true,
  notifyFailed: true,
  preset: ''
};

export interface IWorkbenchServer {
  readonly stream: Stream;
  /** Requests about the folder of runs in the settings. */
  readonly requests: Requests;
  readonly choices: Choices;
  /** Emitted when the folder or another setting changes. */
  readonly changed: ISignal<IWorkbenchServer, void>;
}

export const IWorkbenchServer = new Token<IWorkbenchServer>(
  'tf-distribute-workbench:IWorkbenchServer',
  'Runs and devices from the server, without a kernel.'
);

class WorkbenchServer implements IWorkbenchServer {
  readonly stream: Stream;
  readonly changed = new Signal<this, void>(this);
  choices = DEFAULTS;
  requests: Requests;

  constructor(
    app: JupyterFrontEnd,
    private readonly _trans: TranslationBundle
  ) {
    const { serverSettings } = app.serviceManager;
    this.stream = new Stream(serverSettings);
    this.requests = new Requests(serverSettings, DEFAULTS.runsFolder, _trans);
  }

  choose(choices: Choices): void {
    this.choices = choices;
    if (choices.runsFolder !== this.requests.folder) {
      this.requests = new Requests(
        this.requests.settings,
        choices.runsFolder,
        this._trans
      );
    }
    this.changed.emit();
  }
}

export const serverPlugin: JupyterFrontEndPlugin<IWorkbenchServer> = {
  id: 'tf-distribute-workbench:server',
  description:
    'Runs and devices of the server for the other plugins, and the address of the errors for pages.',
  autoStart: true,
  optional: [ISettingRegistry, ITranslator],
  provides: IWorkbenchServer,
  activate: (
    app: JupyterFrontEnd,
    registry: ISettingRegistry | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(
      'tf-distribute-workbench'
    );
    const server = new WorkbenchServer(app, trans);
    document.body.dataset.wbErrors = URLExt.join(
      app.serviceManager.serverSettings.baseUrl,
      'workbench/errors'
    );
    void registry
      ?.load(serverPlugin.id)
      .then(settings => {
        const choose = () =>
          server.choose({
            ...DEFAULTS,
            ...(settings.composite as unknown as Partial<Choices>)
          });
        settings.changed.connect(choose);
        choose();
      })
      .catch(reason =>
        console.error('The settings of the workbench cannot be read:', reason)
      );
    return server;
  }
};
