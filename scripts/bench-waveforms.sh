#!/usr/bin/env bash
# bench-waveforms.sh CORPUS CSV PLOTS [FLAG...]: installs Linerate's Python package and its peers
# into target/venv-bench, measures, and draws. An empty CORPUS is $LINERATE_CORPORA/waveforms if that
# is set, else the generated waveforms alone.
set -euo pipefail
cd "$(dirname "$0")/.."

corpus=$1 csv=$2 plots=$3
shift 3
cargo=${CARGO:-cargo}
python=target/venv-bench/bin/python

scripts/setup.sh rust cc bench-python
"$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./bindings/python
"$cargo" build --quiet --release --locked --package linerate
"$python" bench/waveforms ${corpus:+--corpus "$corpus"} --csv "$csv" \
  --generator "${CARGO_TARGET_DIR:-target}/release/linerate" "$@"
"$python" bench/waveforms/plot.py "$csv" "$plots"
