/**
 * Message streams of chat gateways: one zlib or zstd stream for the life of a connection, flushed
 * after each message. {@link dev.linerate.gateway.GatewayDecompressor} is the entry point.
 */
package dev.linerate.gateway;
