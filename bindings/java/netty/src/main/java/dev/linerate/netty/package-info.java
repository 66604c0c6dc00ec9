/** permessage-deflate for websockets of Netty; the transports of chat gateways below clients on Netty. */
package dev.linerate.netty;
