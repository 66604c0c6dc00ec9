package dev.freya02.discord.zstd.api;

public interface DiscordZstd {
    DiscordZstdContext createContext();

    DiscordZstdDecompressorFactory createDecompressorFactory(int bufferSizeHint);
}
