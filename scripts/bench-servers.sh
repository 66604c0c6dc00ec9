#!/usr/bin/env bash
# bench-servers.sh LIBRARIES [OPTION...]: measures nginx, Apache and HAProxy with zlib, our
# libraries, SLZ and each NAME=FILE of LIBRARIES, with bench/servers/measure.py and these options.
# Prints JSON Lines, with a run for each server.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh

read -r -a libraries <<<"${1?usage: bench-servers.sh LIBRARIES [OPTION...]}"
shift
{
  scripts/setup.sh rust cc python3 servers wrk
  "${CARGO:-cargo}" build --profile dist --locked --package linerate-z
  scripts/haproxy-slz.sh target/haproxy
} >&2
built=${CARGO_TARGET_DIR:-target}/dist/liblinerate_z.so
measure=bench/servers/measure.py
python3 "$measure" nginx zlib= "linerate=$built" "${libraries[@]}" "$@"
# Apache gets no page of 1 MB: for 50 connections, zlib would take longer than wrk waits.
python3 "$measure" apache zlib= "linerate=$built" "${libraries[@]}" --pages 1000,16000,71000,250000 "$@"
python3 "$measure" haproxy slz=target/haproxy/haproxy-slz linerate=target/haproxy/haproxy-linerate zlib=target/haproxy/haproxy-zlib \
  --levels 1,2,3 "$@"
