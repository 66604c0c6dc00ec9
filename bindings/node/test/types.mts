// Compiled by package.test.js. It has code that users may write and, after @ts-expect-error, code
// that must not compile.

import { createReadStream } from 'node:fs';

import * as ZlibSync from '@linerate/zlib-sync';
import {
  type Envelope,
  type GatewayKind,
  DeflateSession,
  GatewayDecompressor,
  GatewayError,
  InflateSession,
  LinerateError,
  ZstdDecompress,
  createZstdDecompress,
  deflateSync,
  inflate,
  peek,
  zstdDecompress,
} from 'linerate';

const kind: GatewayKind = 'zstd-stream';
const gateway = new GatewayDecompressor(kind, { checks: 'json', sequence: true, recent: { messages: 5, bytes: 5 } });
const text: string | null = gateway.decompressText(new ArrayBuffer(5));
const payload: Buffer | null = gateway.decompress(new Uint8Array(5));
const envelope: Envelope | null = gateway.envelope;
const event: string | null = peek(text ?? '').t;
try {
  gateway.decompress(Buffer.alloc(1));
} catch (error) {
  if (error instanceof GatewayError) {
    const index: number = error.messageIndex;
    const offset: number = error.offset;
    const word: string = error.kind;
    if (error.code === 'ERR_LINERATE_CORRUPT') console.log(index, offset, word);
  } else if (error instanceof LinerateError) {
    console.log(error.kind);
  }
}
const frame: Buffer = new DeflateSession({ windowBits: 12, level: 1 }).compress(Buffer.from('x'), true);
const message: Buffer = new InflateSession({ noContextTakeover: true, maxMessage: 5 }).decompress(frame);
const stream: ZstdDecompress = createReadStream('file').pipe(createZstdDecompress({ windowLog: 20, highWaterMark: 5 }));
const bytes: Promise<Buffer> = inflate(deflateSync(message, { format: 'raw', level: 6 }), { maxOutputLength: 5 });
const decoded: Promise<Buffer> = zstdDecompress(frame);
const inflater = new ZlibSync.Inflate({ chunkSize: 65535, to: 'string', windowBits: 15 });
inflater.push(Buffer.alloc(1), ZlibSync.Z_SYNC_FLUSH);
const result: Buffer | string | null = inflater.result;

// @ts-expect-error: there is no such transport
new GatewayDecompressor('brotli');
// @ts-expect-error: a string is not data
gateway.decompress('text');
// @ts-expect-error: there is no such option
new InflateSession({ level: 5 });
// @ts-expect-error: counts are read only
gateway.messages = 5;

export { bytes, decoded, envelope, event, payload, result, stream };
