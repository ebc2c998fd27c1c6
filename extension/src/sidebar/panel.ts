/** The sidebar: devices and runs, live while it is visible. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { Meters } from '../meters.js';
import { make } from '../runview/elements.js';
import { Sight } from '../runview/sight.js';
import type { StreamUpdate } from '../server/protocol.js';
import type { IWorkbenchServer } from '../server/plugin.js';
import { Link } from './link.js';
import { NoticeView } from './notice.js';
import { noticeOf } from './notices.js';
import type { Runs } from './runs.js';
import type { RunsView } from './runsview.js';
import { section } from './section.js';
import { Watch } from './watch.js';

export class SidebarPanel extends Widget {
  private readonly _meters = new Meters({
    list: 'jp-WorkbenchDevices',
    line: 'jp-WorkbenchDevices-line',
    bar: 'jp-WorkbenchDevices-bar'
  });
  private readonly _link: Link;
  private readonly _notice: NoticeView;
  private readonly _devices: Watch;
  private readonly _listed: Watch;
  private readonly _sights: Sight[];
  /** The devices that were shown last; each machine has the first two. */
  private _known: string[];
  private _devicesSeen = false;
  private _runsSeen = false;

  constructor(
    private readonly _server: IWorkbenchServer,
    private readonly _runs: Runs,
    private readonly _view: RunsView,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-WorkbenchSidebar');
    this._known = [_trans.__('Memory in use'), _trans.__('CPU in use')];
    this._link = new Link(_server);
    this._notice = new NoticeView(_trans, () => this._again());
    this._devices = new Watch(() => this._watchDevices());
    this._listed = new Watch(() => _runs.watch());
    this._lay();
    this._sights = [
      new Sight(this._meters.node, seen => this._see({ devices: seen }), false),
      new Sight(_view.node, seen => this._see({ runs: seen }), false)
    ];
    this._link.changed.connect(() => this._follow());
    _runs.changed.connect(() => this._showNotice());
    _server.changed.connect(() => this._again());
    this._clear();
  }

  override dispose(): void {
    this._sights.forEach(sight => sight.destroy());
    this._devices.want(false);
    this._listed.want(false);
    this._link.dispose();
    super.dispose();
  }

  protected override onResize(): void {
    this._view.list.fit();
  }

  protected override onAfterShow(): void {
    this._view.list.fit();
  }

  protected override onActivateRequest(_: Message): void {
    this._view.focus();
  }

  private _lay(): void {
    const title = this._trans.__('Distributed training');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', title);
    this.node.append(
      make('h2', 'jp-WorkbenchSidebar-title', title),
      section(this._trans.__('Devices'), 'jp-mod-devices', this._meters.node),
      section(this._trans.__('Runs'), 'jp-mod-runs', this._view.node),
      this._notice.node
    );
  }

  private _see(seen: { devices?: boolean; runs?: boolean }): void {
    this._devicesSeen = seen.devices ?? this._devicesSeen;
    this._runsSeen = seen.runs ?? this._runsSeen;
    this._follow();
  }

  /** Watch only the visible parts. */
  private _follow(): void {
    const { hopeful } = this._link;
    this._devices.want(this._devicesSeen && hopeful);
    this._listed.want(this._runsSeen && hopeful);
    if (this._link.state !== 'connected') {
      this._clear();
    }
    this._showNotice();
  }

  private _watchDevices(): () => void {
    return this._server.stream.watch(
      'devices',
      '',
      this._server.choices.devicesSeconds,
      update => this._receive(update)
    );
  }

  private _receive(update: StreamUpdate): void {
    if (update.channel === 'devices') {
      if (update.meters) {
        this._known = update.meters.map(({ name }) => name);
        this._meters.show(update.meters);
      } else {
        this._clear(update.error);
      }
    }
  }

  /** Show no old number, on the same lines, so that the list below does not move. */
  private _clear(why = ''): void {
    const unknown = this._trans.__('unknown');
    const text = why === '' ? unknown : `${unknown}: ${why}`;
    this._meters.show(this._known.map(name => ({ name, share: null, text })));
  }

  private _showNotice(): void {
    const { error } = this._runs.list;
    this._notice.show(noticeOf(this._link.state, error, this._trans));
  }

  /** Ask again, for example after a change of the settings. */
  private _again(): void {
    this._devices.want(false);
    this._listed.want(false);
    this._link.again();
    this._follow();
  }
}
