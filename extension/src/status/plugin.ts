/** The runs in progress in the status bar, and a notification for each run that ends. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { IStatusBar } from '@jupyterlab/statusbar';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import { OPEN_RUN } from '../main/names.js';
import { IWorkbenchServer } from '../server/plugin.js';
import type { Row, RunsUpdate } from '../server/protocol.js';
import { RunRows } from '../server/runs.js';
import { Ends } from './ended.js';
import { ProgressItem } from './item.js';
import { noticeOf, resumedOrGone } from './notices.js';
import { statusBarText } from './words.js';

const SHOW_SIDEBAR = 'workbench:show-runs';

class Status {
  readonly item: ProgressItem;
  private _folder = '';
  private _seconds = 0;
  private _rows = new RunRows();
  private _ends = new Ends();
  /** The notifications about the ends of runs that are shown, by run. */
  private _notified = new Map<string, string>();
  private _unsubscribe = (): void => undefined;

  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _server: IWorkbenchServer,
    private readonly _trans: TranslationBundle
  ) {
    this.item = new ProgressItem(_trans.__('Show the runs'), () => {
      if (_app.commands.hasCommand(SHOW_SIDEBAR)) {
        void _app.commands.execute(SHOW_SIDEBAR);
      }
    });
    _server.changed.connect(() => this.follow());
    _server.stream.connectedChanged.connect(() => this._showProgress());
  }

  /** Watch the folder of the settings, at the interval of the settings. */
  follow(): void {
    const { runsFolder, runsSeconds } = this._server.choices;
    const { stream } = this._server;
    if (runsFolder !== this._folder) {
      this._rows = new RunRows();
      this._ends = new Ends();
      this._notified.clear();
    } else if (runsSeconds === this._seconds) {
      return;
    }
    this._unsubscribe();
    [this._folder, this._seconds] = [runsFolder, runsSeconds];
    this._unsubscribe = stream.watch('runs', runsFolder, runsSeconds, update =>
      this._receive(update as RunsUpdate)
    );
    this._showProgress();
  }

  private _receive(update: RunsUpdate): void {
    this._rows.take(update);
    const { all, whole } = this._rows;
    for (const run of resumedOrGone(this._notified.keys(), all)) {
      Notification.dismiss(this._notified.get(run));
      this._notified.delete(run);
    }
    this._ends.newlyEnded(all, whole).forEach(row => this._notify(row));
    this._showProgress();
  }

  /** Show the runs in progress; without a connection to the server they are unknown. */
  private _showProgress(): void {
    const rows = this._server.stream.connected ? this._rows.all : [];
    this.item.setText(statusBarText(rows, this._trans));
  }

  private _notify(row: Row): void {
    const { _app, _folder, _trans } = this;
    const notice = noticeOf(row, this._server.choices, _trans);
    if (notice !== null) {
      const { kind, text, autoClose } = notice;
      const args = { run: row.id, folder: _folder, title: row.title };
      const open = {
        label: _trans.__('Open'),
        callback: () => void _app.commands.execute(OPEN_RUN, args)
      };
      const shown = Notification.emit(text, kind, {
        autoClose,
        actions: [open]
      });
      this._notified.set(row.id, shown);
    }
  }
}

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:status',
  description:
    'Runs in progress in the status bar; a notification when one ends.',
  autoStart: true,
  requires: [IWorkbenchServer],
  optional: [IStatusBar, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    server: IWorkbenchServer,
    statusBar: IStatusBar | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(
      'tf-distribute-workbench'
    );
    const status = new Status(app, server, trans);
    const { item } = status;
    statusBar?.registerStatusItem('tf-distribute-workbench:runs', {
      item,
      align: 'left',
      rank: 90,
      isActive: () => item.active,
      activeStateChanged: item.activeChanged
    });
    status.follow();
  }
};
