#!/usr/bin/env bash
# dist-npm.sh OUT [NATIVES]: puts the npm packages into OUT/npm: linerate, @linerate/zlib-sync, and
# one with the native part for each platform. The native parts are NATIVES/PLATFORM.node, such as
# linux-x64-gnu.node, with the licences of what they link in PLATFORM.txt. Without NATIVES they are
# built for every platform that can be linked here; with --host instead, only for this machine.
# dist-npm.sh --check OUT: installs the packages into an empty folder, offline, and runs the example
# of docs/gateway/node.md; with an emulator also those for ARM64 beside Debian's Node.js.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packaging.sh
usage="usage: dist-npm.sh OUT [NATIVES|--host], or --check OUT"

# Prints the platform's name in npm.
platform() { # TRIPLE
  local cpu
  case ${1%%-*} in x86_64) cpu=x64 ;; aarch64) cpu=arm64 ;; *) cpu=${1%%-*} ;; esac
  case $1 in
    *-linux-gnu | *-linux-musl) echo "linux-$cpu-${1##*-}" ;;
    *-windows-gnu | *-windows-msvc) echo "win32-$cpu-${1##*-}" ;;
    *-apple-darwin) echo "darwin-$cpu" ;;
  esac
}

# Copies the library that cargo has built in FOLDER, and the licences of what it links.
keep() { # NATIVES FOLDER TRIPLE
  find "$2" -maxdepth 1 -regex '.*/\(lib\)?linerate_node\.\(so\|dylib\|dll\)' -exec cp {} "$1/$(platform "$3").node" \;
  scripts/third-party.py "$3" linerate-node >"$1/$(platform "$3").txt"
}

# Prints the triple of this machine.
host() { rustc --version --verbose | sed -n 's/^host: //p'; }

# Builds the native parts for every platform that can be linked here.
build() { # NATIVES
  # For Windows, napi links a library of Node.js, though functions are looked up only when the
  # module is loaded. An empty library is enough.
  local -x LIBNODE_PATH=$PWD/target/libnode
  mkdir -p "$LIBNODE_PATH"
  printf '!<arch>\n' | tee "$LIBNODE_PATH/libnode.a" >"$LIBNODE_PATH/libnode.dll"
  each_platform linerate-node keep "$1"
  if [ ! -e "$1/$(platform "$(host)").node" ]; then build_host "$1"; fi
}

build_host() { # NATIVES
  "${CARGO:-cargo}" build --locked --profile dist --package linerate-node
  keep "$1" "$target/dist" "$(host)"
}

# Adds the licences to a folder with a package.json, and packs the folder into $out.
stage() { # FOLDER
  cp LICENSE-APACHE LICENSE-MIT "$1"
  npm pack --silent --pack-destination "$out" "./$1" >/dev/null
}

# Writes the package.json of a native part into FOLDER.
platform_package() { # PLATFORM FOLDER
  node -e '
    const [platform, version] = process.argv.slice(1);
    const [os, cpu, abi] = platform.split("-");
    const libc = { gnu: ["glibc"], musl: ["musl"] }[os === "linux" ? abi : ""];
    console.log(JSON.stringify({
      name: `@linerate/${platform}`,
      version,
      description: `The native part of linerate for ${platform}`,
      license: "MIT OR Apache-2.0",
      repository: require("./bindings/node/linerate/package.json").repository,
      main: "linerate.node",
      files: ["linerate.node", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.txt"],
      os: [os],
      cpu: [cpu],
      libc,
      engines: { node: ">=18" },
    }, null, 2));' "$1" "$version" >"$2/package.json"
}

pack() { # NATIVES
  local native name work=target/npm-packages
  rm -rf "$work" "$out"
  mkdir -p "$work" "$out"
  for native in "$1"/*.node; do
    name=$(basename "$native" .node)
    mkdir "$work/$name"
    cp "$native" "$work/$name/linerate.node"
    cp "$1/$name.txt" "$work/$name/THIRD-PARTY.txt"
    platform_package "$name" "$work/$name"
    stage "$work/$name"
  done
  cp -R bindings/node/linerate bindings/node/zlib-sync "$work"
  # All packages have the same version, because the native part has no stable interface.
  node -e '
    const fs = require("fs");
    const [file, natives, version] = process.argv.slice(1);
    const made = JSON.parse(fs.readFileSync(file));
    const names = fs.readdirSync(natives).filter((name) => name.endsWith(".node")).map((name) => name.slice(0, -5)).sort();
    made.optionalDependencies = Object.fromEntries(names.map((name) => [`@linerate/${name}`, version]));
    fs.writeFileSync(file, JSON.stringify(made, null, 2) + "\n");' "$work/linerate/package.json" "$1" "$version"
  stage "$work/linerate"
  stage "$work/zlib-sync"
  echo "$out: $(cd "$out" && ls | xargs)"
}

check() {
  local name root=$temporary/arm64
  name=$(platform "$(host)")
  try "$name" "$temporary/here" "Node.js $(node --version)" env -C "$temporary/here"
  if [ "$name" = linux-arm64-gnu ] || [ ! -e "$out/linerate-linux-arm64-gnu-$version.tgz" ]; then return; fi
  arm64_root "$root" nodejs
  try linux-arm64-gnu "$root/tmp" "Node.js $(in_arm64 "$root" node --version) of $debian, $(emulator)" in_arm64 "$root"
}

# Does what a user does: installs the packages for PLATFORM into FOLDER, where COMMAND runs
# programs, and runs one program. The packages are saved as optional ones, because npm refuses
# others for other machines. WHERE is for the record.
try() { # PLATFORM FOLDER WHERE COMMAND...
  local os cpu file packages=("$out"/linerate-{"$version","zlib-sync-$version","$1-$version"}.tgz)
  IFS=- read -r os cpu _ <<<"$1"
  mkdir -p "$2"
  (cd "$2" && echo '{ "name": "empty", "private": true }' >package.json &&
    npm install --offline --silent --no-audit --no-fund --ignore-scripts --save-optional --os "$os" --cpu "$cpu" "${packages[@]}")
  [ -e "$2/node_modules/@linerate/$1/linerate.node" ] || { echo "npm did not install @linerate/$1" >&2; return 1; }
  awk '/^```js$/ { inside = 1; next } /^```$/ && inside { exit } inside' docs/gateway/node.md >"$2/example.js"
  [ -s "$2/example.js" ] || { echo "docs/gateway/node.md has no example" >&2; return 1; }
  "${@:4}" node example.js
  "${@:4}" node -e 'new (require("@linerate/zlib-sync").Inflate)()'
  "${@:4}" node --input-type=module -e 'import { deflateSync, inflateSync } from "linerate"; inflateSync(deflateSync(Buffer.from("x")))'
  for file in "${packages[@]}"; do ran "$file" "$3"; done
}

if ! scripts/setup.sh node; then exit 77; fi
mode=build
if [ "${1:-}" = --check ]; then
  mode=check
  shift
fi
out=$(realpath -m "${1:?$usage}")/npm
version=$(node -p 'require("./bindings/node/linerate/package.json").version')
if [ $mode = check ]; then
  check
elif [ -n "${2:-}" ] && [ "$2" != --host ]; then
  pack "$2"
else
  natives=target/npm-natives
  rm -rf "$natives"
  mkdir -p "$natives"
  if [ "${2:-}" = --host ]; then build_host "$natives"; else build "$natives"; fi
  pack "$natives"
fi
