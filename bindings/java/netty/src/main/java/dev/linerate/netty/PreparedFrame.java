package dev.linerate.netty;

/** Marks frames whose content is derived from a {@link PreparedContent}. */
interface PreparedFrame {}
