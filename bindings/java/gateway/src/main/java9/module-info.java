/** Message streams of chat gateways. */
module dev.linerate.gateway {
    exports dev.linerate.gateway;
}
