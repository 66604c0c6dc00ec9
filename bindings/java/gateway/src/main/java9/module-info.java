/** Decompressors for message streams of chat gateways, and permessage-deflate of websockets. */
module dev.linerate.gateway {
    exports dev.linerate.gateway;
}
