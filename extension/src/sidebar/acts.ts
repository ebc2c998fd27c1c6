/** Stopping, resuming, training on and deleting runs, with questions before risky actions. */

import { Dialog, InputDialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { agree } from '../agree.js';
import type { ActionName } from '../runview/protocol.js';
import { make } from '../runview/elements.js';
import { actAgreed } from '../server/agreed.js';
import type { ForeignCode, Row } from '../server/protocol.js';
import type { Runs } from './runs.js';
import { named } from './words.js';

const MOST_NAMED = 12;

export class Acts {
  constructor(
    private readonly _runs: Runs,
    private readonly _trans: TranslationBundle
  ) {}

  stop(rows: Row[]): Promise<void> {
    return this._each(rows, 'stop', done =>
      this._trans.__('Asked %1 to stop.', done)
    );
  }

  /** Resume runs; those that would begin again, because they have no checkpoint, after a question. */
  async resume(rows: Row[]): Promise<void> {
    if (await this._askBeginAgain(rows)) {
      await this._each(rows, 'resume', done =>
        this._trans.__('Resumed %1.', done)
      );
    }
  }

  /** Continue to this total number of epochs; without a number, a dialog asks for it. */
  async trainOn(rows: Row[], epochs?: number): Promise<void> {
    const goal = epochs ?? (await this._askEpochs(rows));
    if (goal !== null) {
      const summarize = (done: string) =>
        this._trans.__(
          'Resumed %1; training continues to epoch %2.',
          done,
          goal
        );
      await this._each(rows, 'train_on', summarize, goal);
    }
  }

  async remove(rows: Row[]): Promise<void> {
    if (await this._askDelete(rows)) {
      await this._each(rows, 'delete', done =>
        this._trans.__('Deleted %1.', done)
      );
    }
  }

  /** Act on each run; report the runs that are done by `summarize`, and the problems of the others. */
  private async _each(
    rows: Row[],
    name: ActionName,
    summarize: (done: string) => string,
    epochs?: number
  ): Promise<void> {
    const done: Row[] = [];
    const problems: string[] = [];
    for (const row of rows) {
      try {
        await this._one(row, name, epochs);
        done.push(row);
      } catch (reason) {
        const why = reason instanceof Error ? reason.message : String(reason);
        problems.push(`${row.title}: ${why}`);
      }
    }
    const summary =
      done.length > 0 ? [summarize(named(done, this._trans))] : [];
    const level = problems.length > 0 ? 'error' : 'info';
    this._runs.report([...summary, ...problems].join(' '), level);
  }

  private async _one(
    row: Row,
    name: ActionName,
    epochs: number | undefined
  ): Promise<void> {
    const { requests } = this._runs;
    const ask = (run: string, code: ForeignCode) =>
      agree(run, code, this._trans);
    const now = await actAgreed(requests, ask, row.id, { name, epochs });
    this._runs.take(
      name === 'delete'
        ? { gone: [row.id] }
        : { rows: [{ ...now, id: row.id }] }
    );
  }

  private async _askEpochs(rows: Row[]): Promise<number | null> {
    const { value, button } = await InputDialog.getNumber({
      title: this._trans.__('Continue training %1', named(rows, this._trans)),
      label: this._trans.__('Total epochs'),
      value: 2 * Math.max(1, ...rows.map(({ epochs = 1 }) => epochs)),
      okLabel: this._trans.__('Continue Training')
    });
    return button.accept && value !== null && value > 0
      ? Math.round(value)
      : null;
  }

  private async _askBeginAgain(rows: Row[]): Promise<boolean> {
    const lost = rows.filter(
      ({ resumeStep, step = 0 }) => resumeStep === 0 && step > 0
    );
    if (lost.length === 0) {
      return true;
    }
    const { button } = await showDialog({
      title: this._trans.__('Start over from the first step?'),
      body: this._trans.__(
        'No checkpoint was saved for %1, so training starts over from the first step.',
        named(lost, this._trans)
      ),
      buttons: [
        Dialog.cancelButton({ label: this._trans.__('Cancel') }),
        Dialog.okButton({ label: this._trans.__('Start Over') })
      ]
    });
    return button.accept;
  }

  private async _askDelete(rows: Row[]): Promise<boolean> {
    const { _trans } = this;
    const names = rows
      .slice(0, MOST_NAMED)
      .map(({ title, id }) =>
        make('li', '', title === id ? id : `${title} (${id})`)
      );
    const rest = rows.length - names.length;
    if (rest > 0) {
      names.push(make('li', '', _trans.__('and %1 more', rest)));
    }
    const what = _trans.__(
      'This also deletes records, checkpoints and models. It cannot be undone.'
    );
    const body = make(
      'div',
      'jp-WorkbenchDelete',
      make('ul', '', ...names),
      what
    );
    const { button } = await showDialog({
      title: _trans._n(
        'Delete this run permanently?',
        'Delete these %1 runs permanently?',
        rows.length
      ),
      body: new Widget({ node: body }),
      buttons: [
        Dialog.cancelButton({ label: _trans.__('Keep') }),
        Dialog.warnButton({ label: _trans.__('Delete') })
      ],
      defaultButton: 0
    });
    return button.accept;
  }
}
