/** The interface between a page and its source of messages, and the kernel's comm as a source. */

type Listener<Incoming> = (message: Incoming, buffers: DataView[]) => void;

/** The source of messages of a page: a kernel or a server. */
export interface Source<Outgoing, Incoming> {
  send(message: Outgoing): void;
  /** Receive messages until the returned function is called. */
  listen(listener: Listener<Incoming>): () => void;
}

/** The part of anywidget's model that carries custom messages. */
export interface CommModel<Outgoing, Incoming> {
  send(message: Outgoing): void;
  on(name: 'msg:custom', listener: Listener<Incoming>): void;
  off(name: 'msg:custom', listener: Listener<Incoming>): void;
}

/** The kernel's half of a widget. A kernel that no longer exists does not answer. */
export function commSource<Outgoing, Incoming>(
  model: CommModel<Outgoing, Incoming>
): Source<Outgoing, Incoming> {
  return {
    send: message => {
      try {
        model.send(message);
      } catch {
        // The kernel no longer exists; the page reports that there is no answer.
      }
    },
    listen: listener => {
      model.on('msg:custom', listener);
      return () => model.off('msg:custom', listener);
    }
  };
}
