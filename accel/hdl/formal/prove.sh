#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# prove.sh FOLDER short|long: proves properties of the encoder. Intermediate files go to FOLDER.
#
# It proves the invariants of encoder_invariants.vh by induction with yosys-smtbmc and z3, for any
# number of clocks. It proves each bit of the output (encoder_bits.sv) by bounded model checking
# with yosys-abc, which is much faster for this: `short` for one k and 15 clocks, `long` in 16 or 17
# clocks for every k, then for taps [1] with one k, and for two interleaved channels with two k.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
length=$2
rtl=$here/../rtl
encoder="$rtl/delta_rice_state.v $rtl/delta_rice_code.v $rtl/delta_rice_align.v $rtl/delta_rice_encoder_multi.v $rtl/delta_rice_encoder.v"
mkdir -p "$folder"

fail() { # WHAT LOG
  echo "failed: $1: see $2" >&2
  tail -n 12 "$2" >&2
  exit 1
}

model() { # NAME SCRIPT
  yosys -q -l "$folder/$1.yosys.log" -p "$2" >/dev/null 2>&1 || fail "model $1" "$folder/$1.yosys.log"
}

prove_invariants() {
  model invariants "read_verilog -formal -I$here $encoder; prep -top delta_rice_encoder; async2sync; flatten; opt -full;
    dffunmap; write_smt2 -wires $folder/invariants.smt2"
  local way log=$folder/invariants.log
  for way in "-t 14" "-i -t 4"; do
    # shellcheck disable=SC2086
    yosys-smtbmc -s z3 --noprogress $way "$folder/invariants.smt2" >"$log" 2>&1 || fail "invariants $way" "$log"
    grep -q 'Status: PASSED' "$log" || fail "invariants $way" "$log"
  done
  echo "proven: one sample per clock without a wait, offers stay, codes join; for runs of any length"
}

prove_bits() { # K DELTA CHANNELS CLOCKS
  local name=bits-$1-$2-$3 log
  log=$folder/$name.log
  model "$name" "read_verilog -formal -I$here $encoder; read_verilog -sv -formal $here/encoder_bits.sv;
    chparam -set K $1 -set DELTA $2 -set CHANNELS $3 encoder_bits; prep -top encoder_bits; flatten; opt -full; async2sync;
    memory_map; delete t:\$cover; setundef -undriven -anyseq; dffunmap; techmap; abc -g AND -fast;
    dfflegalize -cell \$_DFF_P_ 01; opt_clean; write_aiger -zinit $folder/$name.aig"
  yosys-abc -c "read_aiger $folder/$name.aig; fold; strash; dc2; bmc3 -F $4" >"$log" 2>&1 || fail "$name" "$log"
  grep -q "No output asserted in $4 frames" "$log" || fail "k = $1, delta $2, $3 channels: a bit" "$log"
  echo "proven: k = $1, delta $2, channels $3: every bit, in $4 clocks"
}

# Checks that the words of `cover` in encoder_bits.sv can come out within so many clocks.
cover_bits() {
  local log=$folder/cover.log
  model cover "read_verilog -formal -I$here $encoder; read_verilog -sv -formal $here/encoder_bits.sv; prep -top encoder_bits;
    flatten; opt -full; async2sync; dffunmap; write_smt2 -wires $folder/cover.smt2"
  yosys-smtbmc -s z3 --noprogress -c -t "$1" "$folder/cover.smt2" >"$log" 2>&1 || fail "cover" "$log"
  echo "reached in $1 clocks: a bit of a second segment's second word, and a segment of three words"
}

prove_invariants
if [ "$length" = short ]; then
  prove_bits 3 1 1 15
else
  cover_bits 18
  for k in {0..15}; do prove_bits "$k" 1 1 16; done
  prove_bits 3 0 1 16
  prove_bits 3 1 2 17
  prove_bits 12 1 2 17
fi
