/**
 * A double of discord-zstd-java, with the names and types of its interface, over zstd-jni. It tests
 * the contenders that call the library by reflection.
 */
package dev.freya02.discord.zstd.api;
