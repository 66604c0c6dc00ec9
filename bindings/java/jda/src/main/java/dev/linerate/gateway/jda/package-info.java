/**
 * Linerate's decompressor in JDA, the Discord library for Java:
 * {@link dev.linerate.gateway.jda.GatewaySockets} adds zstd-stream or zlib-stream below its
 * websocket.
 */
package dev.linerate.gateway.jda;
