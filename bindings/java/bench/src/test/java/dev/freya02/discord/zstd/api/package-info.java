/**
 * A test double of discord-zstd-java, with the names and types of its interface, over zstd-jni.
 * With it, tests run the contenders that call the library by reflection.
 */
package dev.freya02.discord.zstd.api;
