/** The front end of the kernel's `RunChart`: asks for the whole when shown, then follows. */

import 'uplot/dist/uPlot.min.css';
import '../../style/runview.css';

import type { PointsMessage } from './series.js';
import { RunCharts } from './view.js';

interface Model {
  send(content: unknown): void;
  on(
    name: 'msg:custom',
    heard: (content: PointsMessage, buffers: DataView[]) => void
  ): void;
  off(
    name: 'msg:custom',
    heard: (content: PointsMessage, buffers: DataView[]) => void
  ): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const ask = (): void => model.send({ kind: 'ready' });
  const charts = new RunCharts(ask);
  const heard = (content: PointsMessage, buffers: DataView[]): void => {
    if (content.kind === 'points') {
      charts.take(content, buffers);
    }
  };
  el.append(charts.node);
  model.on('msg:custom', heard);
  ask();
  return () => {
    model.off('msg:custom', heard);
    charts.destroy();
  };
}

export default { render };
