/**
 * Linerate's decompressor in JDA, the Discord library for Java.
 *
 * <p>For released versions of JDA, {@link dev.linerate.gateway.jda.GatewaySockets} adds zstd-stream or zlib-stream below
 * its websocket. {@link dev.linerate.gateway.jda.BufferedDecompressor} and
 * {@link dev.linerate.gateway.jda.StreamedDecompressor} implement the decompressor interfaces of JDA's pull request
 * 2985.
 */
package dev.linerate.gateway.jda;
