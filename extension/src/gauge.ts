/** What the machine is doing now, in the hardware panel: meters that the kernel tells of. */

import { Meters, type Meter } from './meters.js';
import { Sight } from './runview/sight.js';

type Heard = (content: { meters: Meter[] }) => void;

interface Model {
  send(content: { view: string; shown: boolean }): void;
  on(name: 'msg:custom', heard: Heard): void;
  off(name: 'msg:custom', heard: Heard): void;
}

const TOUCH_MS = 20_000;
const SILENCE_MS = 6_000;
const SILENT: Meter = {
  name: 'In use now',
  share: null,
  text: 'unknown: the kernel does not tell'
};

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const meters = new Meters({
    list: 'wb-facts wb-inline wb-gauge',
    line: 'wb-fact',
    bar: 'wb-share'
  });
  const { node } = meters;
  const view = Math.random().toString(36).slice(2, 10);
  let seen = true;
  let silence = 0;
  const tell = (shown: boolean): void => {
    seen = shown;
    try {
      model.send({ view, shown });
    } catch {
      // The kernel is gone; the silence shows it.
    }
  };
  const listen = (): void => {
    window.clearTimeout(silence);
    silence = window.setTimeout(
      () => seen && meters.show([SILENT]),
      SILENCE_MS
    );
  };
  const heard: Heard = told => {
    meters.show(told.meters);
    listen();
  };
  const sight = new Sight(node, shown => {
    tell(shown);
    listen();
  });
  const touch = window.setInterval(() => seen && tell(true), TOUCH_MS);
  const leave = (): void => tell(false);
  window.addEventListener('pagehide', leave);
  model.on('msg:custom', heard);
  el.append(node);
  tell(true);
  listen();
  return () => {
    window.clearTimeout(silence);
    window.clearInterval(touch);
    window.removeEventListener('pagehide', leave);
    model.off('msg:custom', heard);
    sight.destroy();
    tell(false);
  };
}

export default { render };
