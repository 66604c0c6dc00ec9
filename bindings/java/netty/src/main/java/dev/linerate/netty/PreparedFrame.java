package dev.linerate.netty;

/** A frame whose content is derived from a {@link PreparedContent}. */
interface PreparedFrame {}
