#!/usr/bin/env bash
# bench-gateway-java.sh speed|memory|jda|start-up|netty DATA CSV PLOTS [FLAG...]: builds the Java binding and what measures it
# beside the JDK and zstd-jni, runs that, and for speed draws. An empty DATA is $LINERATE_GATEWAY_DATA if
# that is set, else ten shards are made up into target/gateway-shards. The Java that is measured is
# $JAVA_HOME's if that is set, else the one in the path. $LINERATE_DISCORD_ZSTD_JAVA is the class path of
# discord-zstd-java, which is measured where it is given.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1 data=${2:-${LINERATE_GATEWAY_DATA:-}} csv=$3 plots=$4
shift 4
cargo=${CARGO:-cargo}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
bench=bindings/java/bench/target

scripts/setup.sh rust java
generated=()
if [ -z "$data" ]; then
  data=target/gateway-shards
  if [ "$what" = start-up ]; then
    data=target/gateway-start-up generated=(--guilds 430 --events 0)
  fi
  if [ ! -e "$data/shard-9.zst" ]; then
    "$cargo" run --quiet --release --locked --package linerate -- gateway generate --shards 10 --seed 1 ${generated[@]+"${generated[@]}"} -o "$data"
  fi
fi
mvn -q -ntp -f bindings/java/pom.xml -pl bench -am -DskipTests package

options=()
case $what in
  speed) class=Bench arguments=(--plots "$plots") ;;
  memory) class=Memory arguments=() ;;
  netty) class=NettyDeflate arguments=() options=(-Xms2g -Xmx2g -Dio.netty.leakDetection.level=disabled) ;;
  start-up) class=StartUp arguments=() options=(-Xms4g -Xmx4g -XX:+AlwaysPreTouch) ;;
  jda)
    "$cargo" build --quiet --release --locked --package linerate
    class=Jda arguments=(--linerate "${CARGO_TARGET_DIR:-target}/release/linerate")
    ;;
  *) echo "bench-gateway-java.sh: neither speed, memory, jda, start-up nor netty: $what" >&2; exit 2 ;;
esac
"$java" ${options[@]+"${options[@]}"} -cp "$bench/classes:$bench/lib/*${LINERATE_DISCORD_ZSTD_JAVA:+:$LINERATE_DISCORD_ZSTD_JAVA}" "dev.linerate.gateway.bench.$class" --data "$data" --csv "$csv" \
  ${arguments[@]+"${arguments[@]}"} "$@"
