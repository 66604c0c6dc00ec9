/** Statistics of {@code linerate-gateway} in recordings of JDK Flight Recorder. */
package dev.linerate.gateway.jfr;
