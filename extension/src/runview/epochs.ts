/** The table of the epochs: the results of training and test at the end of each. */

import { make, scrollToEnd, table } from './elements.js';
import type { Translation } from './language.js';
import type { Epochs } from './protocol.js';
import { percent, significant } from './words.js';

export class EpochsTable {
  readonly node = make('details', 'wbv-fold');
  private readonly _place = make('div', 'wbv-epochs');

  constructor(private readonly _trans: Translation) {
    this._place.tabIndex = 0;
    this._place.setAttribute('role', 'region');
    this._place.setAttribute('aria-label', _trans.__('Results of the epochs'));
    this.node.append(make('summary', '', _trans.__('Epochs')), this._place);
    this.node.open = true;
    this.node.hidden = true;
  }

  /** Show these epochs, if there are any; a reader of the newest ones sees the next ones too. */
  show(epochs: Epochs): void {
    const { scrollTop, clientHeight, scrollHeight } = this._place;
    const atEnd = scrollTop + clientHeight >= scrollHeight - 4;
    this._place.replaceChildren(tableOf(epochs, this._trans));
    this.node.hidden = epochs.step.length === 0;
    if (atEnd) {
      scrollToEnd(this._place);
    }
  }
}

function tableOf(epochs: Epochs, trans: Translation): HTMLElement {
  const known = (
    value: number | null | undefined,
    format: (value: number) => string
  ): string =>
    value === null || value === undefined ? trans.__('unknown') : format(value);
  const metrics = Object.entries(epochs.metrics ?? {});
  const rows = epochs.step.map((step, at) => [
    String(epochs.epoch[at]),
    step.toLocaleString('en'),
    known(epochs.loss[at], significant),
    known(epochs.accuracy[at], percent),
    known(epochs.testLoss[at], significant),
    known(epochs.testAccuracy[at], percent),
    ...metrics.map(([, values]) => known(values[at], significant))
  ]);
  const names = [
    trans.__('Epoch'),
    trans.__('Step'),
    trans.__('Loss'),
    trans.__('Accuracy'),
    trans.__('Test loss'),
    trans.__('Test accuracy'),
    ...metrics.map(([name]) => name)
  ];
  return table(trans.__('Train and test of each epoch'), names, rows, 0);
}
