/**
 * Decompressors for message streams of chat gateways: one zlib or zstd stream for the life of a
 * connection, flushed after each message. {@link dev.linerate.gateway.GatewayDecompressor} is the
 * entry point. For permessage-deflate of websockets it is
 * {@link dev.linerate.gateway.DeflateOptions}.
 */
package dev.linerate.gateway;
