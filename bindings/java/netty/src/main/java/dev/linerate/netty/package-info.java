/**
 * permessage-deflate for websockets of Netty, and transports of chat gateways below clients of
 * Netty.
 */
package dev.linerate.netty;
