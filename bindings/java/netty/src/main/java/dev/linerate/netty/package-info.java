/** permessage-deflate for websockets of Netty. */
package dev.linerate.netty;
