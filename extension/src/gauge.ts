/** The present load of the machine, in the hardware panel: meters that the kernel sends. */

import { Meters, type Meter } from './meters.js';
import { Sight } from './runview/sight.js';

type OnMessage = (content: { meters: Meter[] }) => void;

interface Model {
  send(content: { view: string; shown: boolean }): void;
  on(name: 'msg:custom', onMessage: OnMessage): void;
  off(name: 'msg:custom', onMessage: OnMessage): void;
}

const TOUCH_MS = 20_000;
const SILENCE_MS = 6_000;
const SILENT: Meter = {
  name: 'In use now',
  share: null,
  text: 'unknown: the kernel does not answer'
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
  const sendShown = (shown: boolean): void => {
    seen = shown;
    try {
      model.send({ view, shown });
    } catch {
      // The kernel no longer exists; the meters show that it does not answer.
    }
  };
  const listen = (): void => {
    window.clearTimeout(silence);
    silence = window.setTimeout(
      () => seen && meters.show([SILENT]),
      SILENCE_MS
    );
  };
  const onMessage: OnMessage = message => {
    meters.show(message.meters);
    listen();
  };
  const sight = new Sight(node, shown => {
    sendShown(shown);
    listen();
  });
  const touch = window.setInterval(() => seen && sendShown(true), TOUCH_MS);
  const leave = (): void => sendShown(false);
  window.addEventListener('pagehide', leave);
  model.on('msg:custom', onMessage);
  el.append(node);
  sendShown(true);
  listen();
  return () => {
    window.clearTimeout(silence);
    window.clearInterval(touch);
    window.removeEventListener('pagehide', leave);
    model.off('msg:custom', onMessage);
    sight.destroy();
    sendShown(false);
  };
}

export default { render };
