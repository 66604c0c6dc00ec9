#!/usr/bin/env bash
# bench-gateway-java.sh messages|start-up|memory|jda|netty DATA [FLAG...]: builds the Java binding
# and its bench beside the JDK, zstd-jni, JDA and Netty, runs the bench, and prints its JSON Lines.
# An empty DATA means $LINERATE_GATEWAY_DATA if that is set, otherwise ten shards that are generated
# into target/gateway-shards (for start-up, target/gateway-start-up). The Java to measure is that of
# $JAVA_HOME if it is set, otherwise the one in the path. If $LINERATE_DISCORD_ZSTD_JAVA has the
# class path of discord-zstd-java, that is also measured.
set -euo pipefail
cd "$(dirname "$0")/.."

shape=$1 data=${2:-${LINERATE_GATEWAY_DATA:-}}
shift 2
cargo=${CARGO:-cargo}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
bench=bindings/java/bench/target
options=() arguments=() generated=()
case $shape in
  messages) options=(-Xms2g -Xmx2g -XX:+AlwaysPreTouch) ;;
  start-up) options=(-Xms4g -Xmx4g -XX:+AlwaysPreTouch) generated=(--guilds 430 --events 0) ;;
  netty) options=(-Xms2g -Xmx2g -Dio.netty.leakDetection.level=disabled) ;;
  jda) arguments=(--linerate "${CARGO_TARGET_DIR:-target}/release/linerate") ;;
  memory) ;;
  *) echo "bench-gateway-java.sh: neither messages, start-up, memory, jda nor netty: $shape" >&2; exit 2 ;;
esac

{
  scripts/setup.sh rust java
  if [ -z "$data" ]; then
    data=target/gateway-shards
    if [ "$shape" = start-up ]; then data=target/gateway-start-up; fi
    if [ ! -e "$data/shard-9.zst" ]; then
      "$cargo" run --quiet --release --locked --package linerate -- gateway generate --shards 10 --seed 1 ${generated[@]+"${generated[@]}"} -o "$data"
    fi
  fi
  if [ "$shape" = jda ]; then "$cargo" build --quiet --release --locked --package linerate; fi
  mvn -q -ntp -f bindings/java/pom.xml -pl bench -am -DskipTests package
} >&2
"$java" ${options[@]+"${options[@]}"} -cp "$bench/classes:$bench/lib/*${LINERATE_DISCORD_ZSTD_JAVA:+:$LINERATE_DISCORD_ZSTD_JAVA}" \
  dev.linerate.gateway.bench.Bench "$shape" --data "$data" ${arguments[@]+"${arguments[@]}"} "$@"
