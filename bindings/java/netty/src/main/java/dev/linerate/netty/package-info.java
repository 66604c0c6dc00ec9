/**
 * permessage-deflate for websockets of Netty, and a handler that decompresses messages of chat
 * gateways below clients of Netty.
 */
package dev.linerate.netty;
