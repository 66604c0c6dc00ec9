#!/usr/bin/env bash
# hdl.sh quick|long: tests the hardware in accel/hdl, in target/hdl.
# quick: lint, the VHDL package, benches with vectors from an example of linerate-rice, short
# proofs. long: the same with ten to fifty times as many samples and all proofs.
set -euo pipefail
cd "$(dirname "$0")/.."
hdl=accel/hdl
out=${CARGO_TARGET_DIR:-target}/hdl
mkdir -p "$out"
tops="delta_rice_encoder delta_rice_encoder_multi delta_rice_encoder_axis delta_rice_chunk_encoder_axis delta_rice_decoder
  delta_rice_chunk_decoder_axis"

lint() {
  local top file
  for top in $tops; do
    verilator --lint-only -Wall -Wno-UNUSEDSIGNAL -y $hdl/rtl --top-module "$top" "$hdl/rtl/$top.v"
    # Constructs after Verilog-2005 are errors.
    iverilog -g2005 -Wall -Wno-timescale -y $hdl/rtl -s "$top" -o "$out/lint.vvp" "$hdl/rtl/$top.v"
  done
  for file in "$hdl"/rtl/*.v; do
    [ "$(basename "$file" .v)" = "$(sed -n 's/^module \([a-z_]*\).*/\1/p' "$file")" ] || { echo "failed: lint: $file holds another module" >&2; exit 1; }
  done
  echo "ok: lint"
}

# Checks that the VHDL package and an entity that uses it compile, and that its ports and generics
# are those of the modules.
vhdl() {
  (cd "$out" && rm -f work-obj93.cf && ghdl -a --std=93 "$OLDPWD/$hdl/vhdl/delta_rice.vhd" && ghdl -a --std=93 "$OLDPWD/$hdl/vhdl/example.vhd")
  python3 $hdl/vhdl/compare.py
}

# Runs Verilator's bench with the golden chunks of the original filter whose taps the cores have,
# then with random chunks that have at least SAMPLES samples in all.
bench() { # SAMPLES
  verilator --cc --exe --build -O3 --x-assign fast -CFLAGS "-O2 -std=c++17" -Wno-WIDTH -GADDRESS_WIDTH=16 -y $hdl/rtl \
    --top-module bench_top --Mdir "$out/verilator" -o bench $hdl/sim/bench_top.v "$PWD/$hdl/sim/bench.cpp" >"$out/verilator.log" 2>&1 ||
    { tail "$out/verilator.log" >&2; exit 1; }
  "${CARGO:-cargo}" build --quiet --locked --package linerate-rice --example hdl_vectors
  local vectors=${CARGO_TARGET_DIR:-target}/debug/examples/hdl_vectors
  "$vectors" goldens | "$out/verilator/bench" 1
  "$vectors" random "$1" "${SEED:-1}" | "$out/verilator/bench" "${SEED:-1}"
}

icarus() { # SAMPLES
  iverilog -g2005 -y $hdl/rtl -P multichannel_tb.SAMPLES="$1" -o "$out/multichannel.vvp" $hdl/sim/multichannel_tb.v
  vvp -n "$out/multichannel.vvp" | tee "$out/multichannel.log"
  grep -q '^ok: ' "$out/multichannel.log"
}

lint
vhdl
case ${1:-} in
  quick)
    icarus 20000
    bench 1000000
    $hdl/formal/prove.sh "$out/formal" short
    ;;
  long)
    icarus 1000000
    bench 10000000
    $hdl/formal/prove.sh "$out/formal" long
    ;;
  *) echo "hdl.sh quick|long" >&2; exit 2 ;;
esac
