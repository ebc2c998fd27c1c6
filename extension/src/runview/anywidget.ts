/** The run view in a notebook: its source is the comm of the kernel's `RunWidget`. */

import 'uplot/dist/uPlot.min.css';
import '../../style/runview.css';

import { commSource, type CommModel } from './comm.js';
import { keepKeys } from './hostKeys.js';
import type { Incoming, Outgoing } from './protocol.js';
import { RunView } from './view.js';

type Model = CommModel<Outgoing, Incoming>;

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  keepKeys(window);
  const view = new RunView(commSource(model));
  el.append(view.node);
  return () => view.destroy();
}

export default { render };
