#!/usr/bin/env bash
# bench-waveforms.sh CORPUS [FLAG...]: installs Linerate's Python package and its peers into
# target/venv-bench, measures them on generated waveforms and on the recordings in CORPUS, and
# prints JSON Lines. An empty CORPUS means $LINERATE_CORPORA/waveforms if that is set, else no
# recordings.
set -euo pipefail
cd "$(dirname "$0")/.."

corpus=$1
shift
python=target/venv-bench/bin/python
{
  scripts/setup.sh rust cc bench-python
  "$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./bindings/python
  "${CARGO:-cargo}" build --quiet --release --locked --package linerate-bench --no-default-features
} >&2
"$python" bench/waveforms ${corpus:+--corpus "$corpus"} \
  --generator "${CARGO_TARGET_DIR:-target}/release/linerate-bench" "$@"
