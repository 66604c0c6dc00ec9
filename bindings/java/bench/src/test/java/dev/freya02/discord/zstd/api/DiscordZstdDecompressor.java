package dev.freya02.discord.zstd.api;

public interface DiscordZstdDecompressor {
    void reset();

    void close();

    byte[] decompress(byte[] data);
}
