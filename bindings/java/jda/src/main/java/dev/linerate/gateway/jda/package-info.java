/**
 * Linerate's decompressor in JDA, the Discord library for Java.
 *
 * <p>With JDA as it is released, {@link dev.linerate.gateway.jda.GatewaySockets} puts zstd-stream or
 * zlib-stream beneath its websocket. For the decompressors of one's own that JDA's pull request 2985
 * proposes there are {@link dev.linerate.gateway.jda.BufferedDecompressor} and
 * {@link dev.linerate.gateway.jda.StreamedDecompressor}.
 */
package dev.linerate.gateway.jda;
