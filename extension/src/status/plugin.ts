/** What a page tells of runs by itself: those in progress, and each that comes to its end. */

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
import type { Row, RunsTold } from '../server/protocol.js';
import { RunRows } from '../server/runs.js';
import { Ends } from './ended.js';
import { ProgressItem } from './item.js';
import { noticeOf } from './notices.js';
import { progressWords } from './words.js';

const SHOW_SIDEBAR = 'workbench:show-runs';

class Status {
  readonly item: ProgressItem;
  private _folder = '';
  private _seconds = 0;
  private _rows = new RunRows();
  private _ends = new Ends();
  private _deaf = (): void => undefined;

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
    _server.stream.connectedChanged.connect(() => this._say());
  }

  /** Watch the folder that is chosen now, as often as is chosen now. */
  follow(): void {
    const { runsFolder, runsSeconds } = this._server.choices;
    const { stream } = this._server;
    if (runsFolder !== this._folder) {
      this._rows = new RunRows();
      this._ends = new Ends();
    } else if (runsSeconds === this._seconds) {
      return;
    }
    this._deaf();
    [this._folder, this._seconds] = [runsFolder, runsSeconds];
    this._deaf = stream.watch('runs', runsFolder, runsSeconds, told =>
      this._hear(told as RunsTold)
    );
    this._say();
  }

  private _hear(told: RunsTold): void {
    this._rows.take(told);
    const { all, whole } = this._rows;
    this._ends.look(all, whole).forEach(row => this._notify(row));
    this._say();
  }

  /** While the server is not heard nobody knows what is in progress. */
  private _say(): void {
    const rows = this._server.stream.connected ? this._rows.all : [];
    this.item.tell(progressWords(rows, this._trans));
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
      Notification.emit(text, kind, { autoClose, actions: [open] });
    }
  }
}

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:status',
  description: 'Runs in progress in the status bar; a note when one is over.',
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
