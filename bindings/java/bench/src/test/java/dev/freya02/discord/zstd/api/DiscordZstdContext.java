package dev.freya02.discord.zstd.api;

import java.io.InputStream;

public interface DiscordZstdContext {
    void close();

    void reset();

    InputStream createInputStream(byte[] input);
}
