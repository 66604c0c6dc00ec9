#!/usr/bin/env bash
# dist-jars.sh OUT [NATIVES]: puts the Java modules with sources and documentation into OUT/maven, a
# repository of files. The native libraries are in NATIVES/PLATFORM/, such as linux-x86_64. Without
# NATIVES they are built into target/natives, for every platform that can be linked here.
# dist-jars.sh --check OUT: resolves linerate-gateway from that repository into an empty local one,
# and runs the program of docs/gateway/java.md, also on Java 8 if JAVA8_HOME names one, and with an
# emulator on ARM64. Then resolves the other modules.
#
# linerate-rocksdb only has the library of this machine, because its C++ must fit that of
# rocksdbjni.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packaging.sh
usage="usage: dist-jars.sh OUT [NATIVES], or --check OUT"
modules=gateway,micrometer,netty,jda

# Prints the platform's name in the jar, as NativeLoader.platform() returns it.
platform() { # TRIPLE
  case $1 in
    *-linux-gnu) echo "linux-${1%%-*}" ;;
    *-linux-musl) echo "linux-${1%%-*}-musl" ;;
    *-windows-gnu) echo "windows-${1%%-*}" ;;
    *-apple-darwin) echo "macos-${1%%-*}" ;;
  esac
}

build() { # NATIVES
  rm -rf "$1"
  each_platform linerate-java keep "$1"
}

# Copies the library that cargo has built in FOLDER, and the licences of what it links.
keep() { # NATIVES FOLDER TRIPLE
  local folder
  folder=$1/$(platform "$3")
  mkdir -p "$folder"
  find "$2" -maxdepth 1 -regex '.*/\(lib\)?linerate_java\.\(so\|dylib\|dll\)' -exec cp -t "$folder" {} +
  scripts/third-party.py "$3" linerate-java >"$folder/THIRD-PARTY.txt"
}

pack() { # OUT NATIVES
  if scripts/setup.sh cxx rocksdb-11; then modules+=,rocksdb; else echo "left out: linerate-rocksdb"; fi
  rm -rf "$1/maven"
  mvn --batch-mode --no-transfer-progress --quiet --file bindings/java/pom.xml -P release -DskipTests \
    "-Dlinerate.natives=$2" "-DaltDeploymentRepository=dist::file:$1/maven" --projects ".,$modules" --also-make clean deploy
  echo "$1/maven: $(cd "$2" && ls | xargs)"
}

# Does what a user does: resolves one dependency, compiles and runs one program. Also resolves the
# other modules with their dependencies.
check() { # OUT
  local folder=$temporary/check root=$temporary/arm64 version java module classes licence
  version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' bindings/java/pom.xml | head -n 1)
  mkdir -p "$folder/program"
  resolve "$1" "$folder/repository" linerate-gateway
  sed -n '/^import dev.linerate.gateway.\*;/,/^```/p' docs/gateway/java.md | sed '/^```/,$d' >"$folder/program/Example.java"
  # Maven keeps a snapshot under two names.
  classes=$(find "$folder/repository/dev/linerate" -name "linerate-gateway-*.jar" | head -n 1)
  javac --release 8 -Xlint:-options -cp "$classes" -d "$folder/program" "$folder/program/Example.java"
  for java in "$(command -v java)" ${JAVA8_HOME:+"$JAVA8_HOME/bin/java"}; do
    "$java" -Djava.io.tmpdir="$folder" -cp "$classes:$folder/program" Example | grep '^{"op":11,"d":null}$' >/dev/null
    ran "linerate-gateway-$version.jar" "$(java_version "$java")"
  done
  if [ "$(uname -m)" != aarch64 ] && jar tf "$classes" | grep linux-aarch64/ >/dev/null; then
    arm64_root "$root" default-jre-headless
    java=/usr/lib/jvm/default-java/bin/java
    cp "$classes" "$root/tmp/gateway.jar"
    cp "$folder"/program/*.class "$root/tmp/"
    in_arm64 "$root" $java -cp gateway.jar:. Example | grep '^{"op":11,"d":null}$' >/dev/null
    ran "linerate-gateway-$version.jar" "$(java_version in_arm64 "$root" $java) of $debian, $(emulator)"
  fi
  for module in "$1"/maven/dev/linerate/linerate-*/; do
    module=$(basename "$module")
    case $module in linerate-gateway | *-parent) continue ;; esac
    resolve "$1" "$folder/repository" "$module"
    for licence in LICENSE-MIT LICENSE-APACHE; do
      unzip -tq "$(find "$folder/repository/dev/linerate/$module" -name '*.jar' | head -n 1)" "META-INF/$licence" >/dev/null
    done
    echo "$module-$version.jar: resolved"
  done
}

resolve() { # OUT REPOSITORY MODULE
  mvn --batch-mode --no-transfer-progress --quiet "-Dmaven.repo.local=$2" \
    org.apache.maven.plugins:maven-dependency-plugin:3.9.0:get "-DremoteRepositories=dist::default::file:$1/maven" \
    "-Dartifact=dev.linerate:$3:$version"
}

java_version() { # JAVA...
  "$@" -version 2>&1 | sed -n '1s/.*"\(.*\)".*/Java \1/p'
}

scripts/setup.sh rust zig java || lacks
if [ "${1:-}" = --check ]; then
  check "$(realpath "${2:?$usage}")"
else
  mkdir -p "${1:?$usage}"
  natives=${2:-$PWD/target/natives}
  if [ -z "${2:-}" ]; then build "$natives"; fi
  pack "$(realpath "$1")" "$(realpath "$natives")"
fi
