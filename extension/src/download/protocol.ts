/** What a page and the kernel's `DownloadWidget` say to each other. */

import type { Source as AnySource } from '../runview/comm.js';

export type Told =
  /** The kernel has heard and packs. */
  | { kind: 'packing'; view: string }
  /** The file is there, in the kernel's own file system. */
  | { kind: 'packed'; view: string; name: string; path: string; size: number }
  /** Comes with one buffer: the bytes from here on. */
  | { kind: 'part'; view: string; from: number }
  | { kind: 'refused'; view: string; text: string };

export type Asked =
  { kind: 'pack'; view: string } | { kind: 'part'; view: string; from: number };

/** The kernel's half. */
export type Source = AnySource<Asked, Told>;
