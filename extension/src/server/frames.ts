/** One message of the server's socket: JSON, alone or with buffers. See `workbench/server/frames.py`. */

const ALIGNMENT = 8;

export interface Frame<Content> {
  content: Content;
  buffers: DataView[];
}

/** Take a frame apart; the buffers are views of it, nothing is copied. */
export function unpacked<Content>(frame: string | ArrayBuffer): Frame<Content> {
  if (typeof frame === 'string') {
    return { content: JSON.parse(frame) as Content, buffers: [] };
  }
  const headerBytes = new DataView(frame).getUint32(0, true);
  const header = new TextDecoder().decode(
    new Uint8Array(frame, 4, headerBytes)
  );
  const content = JSON.parse(header) as Content & { bufferBytes: number[] };
  let at = 4 + headerBytes;
  const buffers = content.bufferBytes.map(bytes => {
    const buffer = new DataView(frame, at, bytes);
    at += Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    return buffer;
  });
  return { content, buffers };
}
