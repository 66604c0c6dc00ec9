/** Statistics of {@code linerate-gateway} as Micrometer meters. */
package dev.linerate.gateway.micrometer;
