/** A download in a notebook: its source is the comm of the kernel's `DownloadWidget`. */

import { commSource, type CommModel } from '../runview/comm.js';
import { Download } from './download.js';
import type { Incoming, Outgoing } from './protocol.js';

interface Model extends CommModel<Outgoing, Incoming> {
  get(name: 'label' | 'tip'): string;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const [label, tip] = [model.get('label'), model.get('tip')];
  const download = new Download(commSource(model), label, tip);
  el.append(download.node);
  return () => download.destroy();
}

export default { render };
