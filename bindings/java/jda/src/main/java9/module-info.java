/**
 * Linerate's decompressor in JDA, which this module does not require: its sockets are handed to
 * JDA.
 */
module dev.linerate.gateway.jda {
    requires transitive dev.linerate.gateway;

    exports dev.linerate.gateway.jda;
}
