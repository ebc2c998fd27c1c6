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

/** Columns of which nothing is known, such as a test that is never made, are left out. */
function tableOf(epochs: Epochs, trans: Translation): HTMLElement {
  const all: [string, (number | null)[], (value: number) => string][] = [
    [trans.__('Loss'), epochs.loss, significant],
    [trans.__('Accuracy'), epochs.accuracy, percent],
    [trans.__('Test loss'), epochs.testLoss, significant],
    [trans.__('Test accuracy'), epochs.testAccuracy, percent],
    ...Object.entries(epochs.metrics ?? {}).map(
      ([name, values]): (typeof all)[number] => [name, values, significant]
    )
  ];
  const known = (value: number | null | undefined): value is number =>
    value !== null && value !== undefined;
  const columns = all.filter(([, values]) => values.some(known));
  const rows = epochs.step.map((step, at) => [
    String(epochs.epoch[at]),
    step.toLocaleString('en'),
    ...columns.map(([, values, format]) => {
      const value = values[at];
      return known(value) ? format(value) : trans.__('unknown');
    })
  ]);
  const names = [
    trans.__('Epoch'),
    trans.__('Step'),
    ...columns.map(([name]) => name)
  ];
  return table(trans.__('Train and test of each epoch'), names, rows, 0);
}
