/** Linerate's decompressor in JDA. JDA itself is needed only for the decompressors it does not know yet. */
module dev.linerate.gateway.jda {
    requires transitive dev.linerate.gateway;
    requires static transitive net.dv8tion.jda;

    exports dev.linerate.gateway.jda;
}
