#!/usr/bin/env bash
# bench-servers.sh CSV LIBRARIES [OPTION...]: measures nginx, Apache and HAProxy with zlib, our libraries, SLZ and each NAME=FILE of
# LIBRARIES, by bench/servers/measure.py with these options; writes CSV-nginx.csv, CSV-apache.csv and CSV-haproxy.csv, where CSV is
# without its suffix.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh

csv=${1:?usage: bench-servers.sh CSV LIBRARIES [OPTION...]}
read -r -a libraries <<<"${2:-}"
shift 2
scripts/setup.sh rust cc python3 servers wrk
"${CARGO:-cargo}" build --profile dist --locked --package linerate-z
built=${CARGO_TARGET_DIR:-target}/dist/liblinerate_z.so
mkdir -p "$(dirname "$csv")"
measure() { # SERVER ARGUMENT...
  python3 bench/servers/measure.py "$@" >"${csv%.csv}-$1.csv"
}

measure nginx zlib= "linerate=$built" "${libraries[@]}" "$@"
# 1 MB to each of 50 connections takes zlib longer than wrk waits.
measure apache zlib= "linerate=$built" "${libraries[@]}" --pages 1000,16000,71000,250000 "$@"
scripts/haproxy-slz.sh target/haproxy
measure haproxy slz=target/haproxy/haproxy-slz linerate=target/haproxy/haproxy-linerate zlib=target/haproxy/haproxy-zlib \
  --levels 1,2,3 "$@"
