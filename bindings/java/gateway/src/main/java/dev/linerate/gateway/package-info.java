/**
 * Message streams of chat gateways: one zlib or zstd stream for as long as the connection lives, flushed
 * after each message. {@link dev.linerate.gateway.GatewayDecompressor} has all of it.
 */
package dev.linerate.gateway;
