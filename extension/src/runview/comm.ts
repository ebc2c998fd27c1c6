/** What a widget's page and its other half send each other, and the kernel's comm as that half. */

type Heard<Told> = (message: Told, buffers: DataView[]) => void;

/** The other half of a page, wherever it is. */
export interface Source<Asked, Told> {
  send(message: Asked): void;
  /** Hear what is told until the function that it returns is called. */
  listen(heard: Heard<Told>): () => void;
}

/** The part of anywidget's model that carries custom messages. */
export interface CommModel<Asked, Told> {
  send(message: Asked): void;
  on(name: 'msg:custom', heard: Heard<Told>): void;
  off(name: 'msg:custom', heard: Heard<Told>): void;
}

/** The kernel's half of a widget. What is sent to a kernel that is gone is not answered. */
export function commSource<Asked, Told>(
  model: CommModel<Asked, Told>
): Source<Asked, Told> {
  return {
    send: message => {
      try {
        model.send(message);
      } catch {
        // The kernel is gone, of which the page tells where it waits for an answer.
      }
    },
    listen: heard => {
      model.on('msg:custom', heard);
      return () => model.off('msg:custom', heard);
    }
  };
}
