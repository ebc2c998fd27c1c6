/** A download in a notebook: its source is the comm of the kernel's `DownloadWidget`. */

import { Download } from './download.js';
import type { Asked, Source, Told } from './protocol.js';

type Heard = (content: Told, buffers: DataView[]) => void;

interface Model {
  get(name: 'label' | 'tip'): string;
  send(content: Asked): void;
  on(name: 'msg:custom', heard: Heard): void;
  off(name: 'msg:custom', heard: Heard): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const source: Source = {
    send: message => {
      try {
        model.send(message);
      } catch {
        // The kernel is gone and answers no more.
      }
    },
    listen: heard => {
      model.on('msg:custom', heard);
      return () => model.off('msg:custom', heard);
    }
  };
  const download = new Download(source, model.get('label'), model.get('tip'));
  el.append(download.node);
  return () => download.destroy();
}

export default { render };
