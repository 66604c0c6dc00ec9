#!/usr/bin/env bash
# dist-wheels.sh OUT [TRIPLE|sdist...]: puts wheels of pylinerate into OUT, by default those for
# PyPI: manylinux2014 (glibc 2.17) and musllinux_1_2 for x86_64 and aarch64. One wheel serves Python
# 3.11 and newer, because the limited API has buffers from 3.11 on. It contains the HDF5 plugins for
# the same machine. Also makes the source distribution, which contains the crates that it needs.
#
# dist-wheels.sh --check OUT: checks the dependencies of every wheel's libraries, and installs the
# wheels for this machine in an empty environment of each Python (PATH, pyenv), and the source
# distribution in one of them. With an emulator it also installs the wheel for ARM64 beside Debian's
# Python. Runs the page's examples and the plugins there.
# The status is 77 if something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packaging.sh

triples="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl sdist"
build_needs="rust zig"
check_needs="rust zig"
PATH=$PWD/target/venv-dist/bin:$PATH
package=bindings/python/python/pylinerate

# Prints the beginning of the platform in the name of a wheel for TRIPLE.
platform() { # TRIPLE
  case $1 in
    *-linux-gnu) echo manylinux2014 ;;
    *-linux-musl) echo musllinux_1_2 ;;
    *) echo "dist-wheels.sh: no wheels for $1" >&2; exit 2 ;;
  esac
}

build() { # TRIPLE
  if [ "$1" = sdist ]; then
    (cd bindings/python && python -c 'import sys, build_backend; build_backend.build_sdist(sys.argv[1])' "$out")
    return
  fi
  local std=() platform
  platform=$(platform "$1")
  rm -f "$out"/pylinerate-*"$platform"*"_${1%%-*}.whl"
  (cd bindings/python && python -c 'import sys, build_backend; build_backend.build_plugins(sys.argv[1], sys.argv[2])' "$profile" "$1")
  scripts/third-party.py "$1" linerate-python >"$package/THIRD-PARTY.txt"
  # As cross.sh does it: without rustup's library for the target, nightly compiles the library.
  if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; then
    local -x RUSTUP_TOOLCHAIN=nightly
    std=(-Z "build-std=std,panic_unwind")
  fi
  # zig is called as linker by a script that cargo-zigbuild writes, or maturin. Here both use the
  # one of cargo-zigbuild: with another linker cargo would compile everything again.
  env "CARGO_BIN_EXE_cargo-zigbuild=$(command -v cargo-zigbuild)" \
    maturin build --quiet --zig "${std[@]}" --locked --target "$1" --compatibility "$platform" --profile "$profile" \
      --manifest-path bindings/python/Cargo.toml --out "$out"
  rm "$package/THIRD-PARTY.txt"
}

# Checks the machine and the dependencies of every library in a wheel, and that it is stripped.
look_at() { # WHEEL
  local folder=$temporary/unpacked library tag
  rm -rf "$folder"
  python -m zipfile -e "$1" "$folder"
  tag=
  # auditwheel is not run for musl: it would open the libc.so of this machine, which is a text file
  # if a compiler is installed.
  case $1 in *manylinux*) tag=$(auditwheel show "$1" | tr '\n' ' ' | grep -oE 'platform tag: +"[^"]*"') ;; esac
  echo "${1##*/}${tag:+: $tag}"
  for library in "$folder"/pylinerate/*.so "$folder"/pylinerate/plugins/*.so; do
    python - "$1" "$library" <<'PY'
import re
import sys
from elftools.elf.elffile import ELFFile

wheel, library = sys.argv[1:]
with open(library, "rb") as file:
    elf = ELFFile(file)
    machine = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}[elf["e_machine"]]
    assert wheel.endswith(f"_{machine}.whl"), f"{library}: {machine}"
    assert not elf.get_section_by_name(".debug_info") and not elf.get_section_by_name(".symtab"), f"{library}: not stripped"
    needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
    versions = elf.get_section_by_name(".gnu.version_r")
    names = [aux.name for _, group in versions.iter_versions() for aux in group] if versions else []
    glibc = [tuple(map(int, re.findall(r"\d+", name))) for name in names if name.startswith("GLIBC_")]
    if "musllinux" in wheel:
        assert needed <= {"libc.so"} and not names, f"{library}: {needed}, {names}"
        print(f"{library.rsplit('/', 1)[1]}: {machine}, musl, needs {', '.join(needed)}")
    else:
        allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        assert needed <= allowed and max(glibc) <= (2, 17), f"{library}: {needed - allowed}, {names}"
        print(f"{library.rsplit('/', 1)[1]}: {machine}, glibc {'.'.join(map(str, max(glibc)))}")
PY
  done
}

# Prints the path of one interpreter for each version of Python that is installed here.
pythons() {
  local version python
  for version in 3.11 3.12 3.13 3.14; do
    for python in "$(command -v "python$version" || true)" "$HOME"/.pyenv/versions/"$version".*/bin/python; do
      if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$python"
        break
      fi
    done
  done
}

try() { # PYTHON WHEEL
  local venv=$temporary/venv
  rm -rf "$venv"
  "$1" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$2[hdf5]"
  (cd "$temporary" && examples "$venv/bin/python")
  ran "$2" "$("$1" --version)"
}

# Installs the wheel, and dependencies for the same machine, beside Debian's Python for ARM64.
try_arm64() { # WHEEL
  local root=$temporary/arm64
  arm64_root "$root" python3,libstdc++6 # wheels of dependencies may need libstdc++
  python -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$root/opt/packages" \
    --implementation cp --python-version 3.11 --abi cp311 --abi abi3 --abi none \
    --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 "$1[hdf5]"
  (cd "$temporary" && PYTHONPATH=/opt/packages examples in_arm64 "$root" python3.11)
  ran "$1" "Python 3.11 of $debian, $(emulator)"
}

examples() { # PYTHON...
  local plugins
  sed -n '/^```python$/,/^```$/{/^```/!p}' "$page" | "$@" -
  plugins=$("$@" -c 'from pylinerate.hdf5 import PLUGIN_PATH; print(PLUGIN_PATH)')
  "$@" - "$plugins" <<'PY'
import os
import sys

os.environ["HDF5_PLUGIN_PATH"] = sys.argv[1]

import h5py
import numpy as np

samples = np.random.default_rng(1).normal(0, 20, (64, 1000)).astype("int16")
with h5py.File("plugins.h5", "w") as file:  # pylinerate is not imported: HDF5 loads the plugin
    file.create_dataset("waveforms", data=samples, chunks=(8, 1000), compression=32025)
with h5py.File("plugins.h5") as file:
    assert (file["waveforms"][:] == samples).all()
    assert file["waveforms"].id.get_storage_size() < samples.nbytes
PY
}

page=$PWD/bindings/python/README.md

check() {
  local wheel python sources
  scripts/publish-packages.sh "$out" wheels
  for wheel in "$out"/pylinerate-*.whl; do
    look_at "$wheel"
    case $wheel in
      *manylinux*"_$(uname -m).whl") for python in $(pythons); do try "$python" "$wheel"; done ;;
      *manylinux*_aarch64.whl) try_arm64 "$wheel" ;;
    esac
  done
  for sources in "$out"/pylinerate-*.tar.gz; do
    if [ -e "$sources" ]; then try "$(pythons | head -n 1)" "$sources"; fi
  done
}

packages "$@"
