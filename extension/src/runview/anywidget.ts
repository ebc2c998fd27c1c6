/** The run view in a notebook: its source is the comm of the kernel's `RunWidget`. */

import 'uplot/dist/uPlot.min.css';
import '../../style/runview.css';

import type { Asked, Source, Told } from './protocol.js';
import { RunView } from './view.js';

type Heard = (content: Told, buffers: DataView[]) => void;

interface Model {
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
        // The kernel is gone and answers no more, of which the view tells.
      }
    },
    listen: heard => {
      model.on('msg:custom', heard);
      return () => model.off('msg:custom', heard);
    }
  };
  const view = new RunView(source);
  el.append(view.node);
  return () => view.destroy();
}

export default { render };
