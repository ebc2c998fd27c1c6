/** The only view of a run: in a notebook over a comm, in a panel over the server. */

import { Actions } from './actions.js';
import { Answers } from './answers.js';
import { RunCharts } from './charts.js';
import { make, setText } from './elements.js';
import { EpochsTable } from './epochs.js';
import { Figures } from './figures.js';
import { ENGLISH, type Translation } from './language.js';
import { Lanes } from './lanes.js';
import { News } from './notes.js';
import {
  VERSION,
  type ActionRequest,
  type Incoming,
  type NoteMessage,
  type RunMessage,
  type Source
} from './protocol.js';
import { Series } from './series.js';
import { Sight } from './sight.js';
import { RunState } from './state.js';
import { Summary } from './summary.js';
import { Times } from './times.js';
import { ofTheKernel } from './wording.js';

const TOUCH_MS = 20_000;
const SILENCE_MS = 10_000;

/** Shows a run from its source; requests a whole message at the start and after a lost message. */
export class RunView {
  readonly node = make('section', 'wbv');
  private _state = new RunState();
  // Not crypto.randomUUID, which pages have over https and from localhost only.
  private readonly _name = Math.random().toString(36).slice(2, 10);
  private readonly _summary: Summary;
  private readonly _actions: Actions;
  private readonly _charts: RunCharts;
  private readonly _lanes: Lanes;
  private readonly _times: Times;
  private readonly _figures: Figures;
  private readonly _epochs: EpochsTable;
  private readonly _body = make('div');
  private readonly _nothing = make('p', 'wbv-quiet');
  private readonly _note = make('p', 'wbv-notice');
  private readonly _late = make('p', 'wbv-notice wbv-warning');
  private readonly _answers: Answers;
  private readonly _sight: Sight;
  private readonly _unsubscribe: () => void;
  private _requests = 0;
  /** The id of the request for a whole message that is under way. */
  private _asked = '';
  private _receivedAt = Date.now();
  private _seen = true;
  private _isLate = false;
  private _connected = true;
  private readonly _timer: number;
  private readonly _leave = (): void => this._sendShown(false);
  private _noteText = '';
  private _noteLevel: NoteMessage['level'] = 'info';
  private readonly _news = new News();

  constructor(
    private readonly _source: Source,
    trans: Translation = ENGLISH,
    private readonly _wording = ofTheKernel(trans)
  ) {
    this.node.setAttribute('aria-label', trans.__('Run'));
    this._summary = new Summary(
      run =>
        this._answers.ask(id => this._source.send({ kind: 'open', id, run })),
      trans
    );
    this._actions = new Actions(
      request => this._act(request),
      _wording.form,
      trans
    );
    this._lanes = new Lanes(task => this._act({ name: 'kill', task }), trans);
    this._times = new Times(trans);
    this._figures = new Figures(trans);
    this._epochs = new EpochsTable(trans);
    this._charts = new RunCharts((firstStep, lastStep, mostPoints) => {
      const request = `${this._name}-${++this._requests}`;
      this._source.send({
        kind: 'window',
        request,
        firstStep,
        lastStep,
        mostPoints
      });
    }, trans);
    this._answers = new Answers(this._name, late => {
      this._isLate = late;
      this._showLate();
    });
    setText(this._nothing, _wording.nothing);
    this._note.setAttribute('role', 'status');
    this._note.hidden = this._late.hidden = true;
    this._body.hidden = true;
    this._body.append(
      this._summary.node,
      this._actions.node,
      this._figures.node,
      this._charts.node,
      this._epochs.node,
      this._lanes.node,
      fold(trans.__('Where the time went'), this._times.node)
    );
    this.node.append(this._nothing, this._note, this._late, this._body);
    this._unsubscribe = _source.listen((message, buffers) =>
      this._receive(message, buffers)
    );
    this._sight = new Sight(this.node, seen => this._sendShown(seen));
    this._timer = window.setInterval(() => this._stayInTouch(), TOUCH_MS);
    window.addEventListener('pagehide', this._leave);
    this._ask();
  }

  destroy(): void {
    this._unsubscribe();
    this._sendShown(false);
    window.clearInterval(this._timer);
    window.removeEventListener('pagehide', this._leave);
    this._sight.destroy();
    this._answers.destroy();
    this._charts.destroy();
  }

  /** The start of what is shown: the summary, or before the first run the sentence for it. */
  private get _top(): HTMLElement {
    return this._body.hidden ? this.node : this._summary.node;
  }

  private _sendShown(shown: boolean): void {
    this._seen = shown;
    this._source.send({ kind: 'shown', view: this._name, shown });
  }

  /** Report that the view is visible; if a run in progress is silent, a message was lost. */
  private _stayInTouch(): void {
    if (!this._seen) {
      return;
    }
    this._source.send({ kind: 'looking', view: this._name });
    const alive = this._state.parts.head?.alive && !this._state.parts.gone;
    if (alive && Date.now() - this._receivedAt > SILENCE_MS) {
      this._ask();
    }
  }

  private _ask(): void {
    if (this._asked === '') {
      const view = this._name;
      this._asked = this._answers.ask(id =>
        this._source.send({ kind: 'ready', id, view, version: VERSION })
      );
    }
  }

  private _act(request: ActionRequest): void {
    this._showNote('info', '');
    const dir = this._state.parts.head?.dir ?? '';
    this._answers.ask(id =>
      this._source.send({ kind: 'action', id, dir, ...request })
    );
  }

  private _receive(message: Incoming, buffers: DataView[]): void {
    switch (message.kind) {
      case 'run':
        this._update(message, buffers);
        break;
      case 'window':
        if (message.request === `${this._name}-${this._requests}`) {
          const series = new Series();
          series.take({ ...message.points, from: 0 }, buffers);
          this._charts.showCloser(series);
        }
        break;
      case 'heard':
        this._answers.acknowledge(message.id);
        this._asked = this._asked === message.id ? '' : this._asked;
        break;
      case 'reveal':
        this._top.scrollIntoView({ block: 'nearest' });
        break;
      case 'link':
        this._connected = message.up;
        this._showLate();
        break;
      case 'note':
        this._showNote(message.level, message.text);
        if (message.level === 'error') {
          this._actions.offer();
        }
        break;
    }
  }

  private _update(message: RunMessage, buffers: DataView[]): void {
    if (message.version !== VERSION) {
      this._showNote('error', this._wording.old);
      return;
    }
    this._receivedAt = Date.now();
    if (message.whole) {
      this._begin(message.feed);
    }
    if (this._state.take(message, buffers)) {
      this._show(message);
    } else {
      this._ask();
    }
  }

  /** Forget the old state: a whole message follows, perhaps of another run. */
  private _begin(feed: string): void {
    if (feed !== this._state.feed) {
      this._charts.reset();
      this._showNote('info', '');
    }
    this._state = new RunState();
    this._answers.acknowledge(this._asked);
    this._asked = '';
  }

  private _show({ parts, points }: RunMessage): void {
    const known = this._state.parts;
    this._body.hidden = known.head === undefined;
    this._nothing.hidden = !this._body.hidden || Boolean(known.gone);
    this._summary.show(known);
    this._actions.show(known);
    this._lanes.show(known);
    this._times.show(known);
    if (parts.epochs) {
      this._epochs.show(parts.epochs);
    }
    this._figures.show(known, this._state.series);
    if (points || parts.epochs || parts.progress || parts.results) {
      this._charts.show(known, this._state.series);
    }
    if (parts.gone) {
      this._showNote('error', parts.gone);
    } else if (this._news.overtake(parts, this._noteLevel)) {
      this._showNote('info', '');
    }
  }

  private _showLate(): void {
    const { late, disconnected } = this._wording;
    this._late.hidden = this._connected && !this._isLate;
    setText(this._late, this._connected ? late : disconnected);
  }

  private _showNote(level: NoteMessage['level'], text: string): void {
    this._nothing.hidden ||= level === 'error';
    if (this._noteText !== text) {
      this._noteText = text;
      this._noteLevel = level;
      this._note.classList.toggle('wbv-error', level === 'error');
      this._note.hidden = text === '';
      setText(this._note, text);
    }
  }
}

function fold(title: string, inside: HTMLElement): HTMLElement {
  return make('details', 'wbv-fold', make('summary', '', title), inside);
}
