/** The messages between a page and the kernel's `DownloadWidget`. */

import type { Source as AnySource } from '../runview/comm.js';

export type Incoming =
  /** The kernel has received the request and packs. */
  | { kind: 'packing'; view: string }
  /** The file is there, in the kernel's own file system. */
  | { kind: 'packed'; view: string; name: string; path: string; size: number }
  /** Has one buffer: the bytes from `from` on. */
  | { kind: 'part'; view: string; from: number }
  | { kind: 'refused'; view: string; text: string };

export type Outgoing =
  { kind: 'pack'; view: string } | { kind: 'part'; view: string; from: number };

/** The kernel's half. */
export type Source = AnySource<Outgoing, Incoming>;
