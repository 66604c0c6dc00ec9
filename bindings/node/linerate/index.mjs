import linerate from './index.js';

export const {
  DeflateSession,
  GatewayDecompressor,
  GatewayError,
  InflateSession,
  LinerateError,
  ZstdDecompress,
  createZstdDecompress,
  deflate,
  deflateSync,
  inflate,
  inflateSync,
  peek,
  zstdDecompress,
  zstdDecompressSync,
} = linerate;
export default linerate;
