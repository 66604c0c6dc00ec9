package dev.freya02.discord.zstd.api;

public interface DiscordZstdDecompressorFactory {
    DiscordZstdDecompressor create();
}
