/**
 * A double of discord-zstd-java, with the names and types of its interface and zstd-jni below: the contenders that call
 * it by name are tested without it.
 */
package dev.freya02.discord.zstd.api;
