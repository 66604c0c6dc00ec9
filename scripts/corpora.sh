#!/usr/bin/env bash
# corpora.sh [DIR]: downloads, makes and verifies the data that records name, below DIR [default:
# $LINERATE_CORPORA]. Existing files are only verified, so copies from elsewhere are fine. At the
# end it lists each set that is missing or differs from the measured one; the status is then 1.
#
# silesia is downloaded. gateway, waveforms-generated and half of planner are made from seeds; the
# generated sets of planner are those of Python 3.11. textures-unseen and the other half of planner are
# taken from packages, which needs Debian's apt-get and dpkg-deb, unzip, Python with pip, and 7 GB
# below $TMPDIR for some minutes. Nobody publishes the selections in web, textures and waveforms as
# sets, so they are only verified, or listed as missing. Other files of the same kind give other
# results.
set -euo pipefail
dir=${1:-${LINERATE_CORPORA:?usage: corpora.sh DIR}}
mkdir -p "$dir"
dir=$(realpath "$dir")
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
silesia=http://sun.aei.polsl.pl/~sdeor/corpus
missing=()

# Prints the SHA-256 of a file, or of the list of all files of a folder with their sums.
digest() { # PATH
  if [ -f "$1" ]; then
    sha256sum <"$1" | cut -c 1-64
  else
    (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) | sha256sum | cut -c 1-64
  fi
}

# Verifies a file or folder, which WHAT describes. If it does not exist, runs COMMAND first to make
# it; what a failed COMMAND leaves is removed.
need() { # SHA256 PATH WHAT [COMMAND...]
  local sum=$1 path=$2 what=$3 found
  shift 3
  if [ ! -e "$dir/$path" ] && [ $# != 0 ]; then
    mkdir -p "$(dirname "$dir/$path")"
    if ! "$@" >&2; then
      rm -rf "${dir:?}/$path"
    fi
  fi
  if [ ! -e "$dir/$path" ]; then
    missing+=("$path is not there: $what")
    return
  fi
  found=$(digest "$dir/$path")
  if [ "$found" = "$sum" ]; then
    echo "$path: as measured"
  else
    missing+=("$path is other data, $found: $what")
  fi
}

download() { # NAME
  curl --fail --silent --show-error --location "$silesia/$1.bz2" | bunzip2 >"$dir/silesia/$1"
}

waveforms() { # SET
  "$cargo" run --quiet --release --locked --package linerate-bench --no-default-features -- \
    waveforms --set "$1" --out "$dir/waveforms-generated/$1.npy"
}

# Ten connections. Only the payloads are verified, because compressed ones depend on the version of
# zlib and zstd.
gateway() {
  "$cargo" run --quiet --release --locked --package linerate -- gateway generate --shards 10 --seed 1 -o "$dir/gateway" &&
    mkdir "$dir/gateway/payloads" &&
    ln "$dir/gateway"/*.msgs "$dir/gateway/payloads"
}

# Unpacks the matching files of a Debian package without installing it.
debian() ( # PACKAGE=VERSION DIR PATTERN...
  package=$1 && mkdir "$2" && cd "$2" && shift 2 && apt-get --quiet download "$package" &&
    dpkg-deb --fsys-tarfile ./*.deb | tar --extract --wildcards "$@" && rm ./*.deb
)

# Copies every STEP-th DDS file below DIR, in the order of paths, to textures-unseen/FORMAT/NAME if
# its fourCC is that of one of the FORMATs.
take() { # DIR NAME STEP FORMAT...
  local file format from=$1 name=$2 step=$3
  shift 3
  (cd "$from" && find . -type f -iname '*.dds' | LC_ALL=C sort | awk "NR % $step == 0") | while read -r file; do
    case $(tail -c +85 "$from/$file" | head -c 4 | tr -d '\0') in
      DXT1) format=bc1 ;;
      DXT5) format=bc3 ;;
      ATI2) format=bc5 ;;
      *) continue ;;
    esac
    if [[ " $* " = *" $format "* ]]; then
      mkdir -p "$dir/textures-unseen/$format/$name"
      cp "$from/$file" "$dir/textures-unseen/$format/$name/$(tr / _ <<<"${file#./}")"
    fi
  done
}

# Makes one of the sets in textures-unseen: textures on which no filter was tuned.
unseen() ( # FORMAT
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT &&
    debian flightgear-data-base=1:2020.3.16+dfsg-1 "$work/flightgear" '*.dds' &&
    if [ "$1" = bc5 ]; then
      take "$work/flightgear" flightgear 1 bc5
    else
      debian flightgear-data-models=1:2020.3.16+dfsg-1 "$work/models" '*.dds' &&
        debian 0ad-data=0.0.26-1 "$work/0ad" '*/public.zip' &&
        unzip -q "$(find "$work/0ad" -name public.zip)" '*.dds' -d "$work/dds" &&
        take "$work/flightgear" flightgear 4 "$1" &&
        take "$work/models" flightgear 4 "$1" &&
        take "$work/dds" 0ad 64 "$1"
    fi
)

# Copies the files of Debian packages that match, with their paths, into one of planner's folders.
unpacked() { # NAME PATTERN PACKAGE=VERSION...
  local to=$dir/planner/$1 pattern=$2 package
  shift 2
  mkdir -p "$to"
  for package; do
    debian "$package" "$to/${package%%=*}" "$pattern" || return
  done
  # Links would lead to files of other packages, which are not unpacked.
  find "$to" -type l -delete
}

# Copies every 12th DDS file of 0ad-data, apart from those that are also in textures-unseen.
planner_dds() (
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT &&
    debian 0ad-data=0.0.26-1 "$work/0ad" '*/public.zip' &&
    unzip -q "$(find "$work/0ad" -name public.zip)" '*.dds' -d "$work/dds" && cd "$work/dds" &&
    find . -type f -iname '*.dds' | LC_ALL=C sort | awk 'NR % 12 == 5' |
    while read -r file; do
      mkdir -p "$dir/planner/dds" && cp "$file" "$dir/planner/dds/$(tr / _ <<<"${file#./}")"
    done
)

# Encodes every STEP-th matching texture of SuperTuxKart as BC4 or BC7, because the packages above
# have no textures in these formats. The encoder's bytes may differ on other CPUs.
encoded() ( # FORMAT STEP PATTERN
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT &&
    debian supertuxkart-data=1.4+dfsg-2 "$work/images" '*/data/tracks/*.png' '*/data/tracks/*.jpg' '*/data/textures/*.png' \
      '*/data/textures/*.jpg' '*/data/karts/*.png' &&
    python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install --quiet ispc-texcomp==1.0.1 pillow==10.4.0 &&
    "$work/venv/bin/python" scripts/encode-textures.py "$1" "$2" "$3" \
      "$work/images/usr/share/games/supertuxkart/data" "$dir/textures-unseen/$1"
)

while read -r sum name; do
  need "$sum" "silesia/$name" "a file of the Silesia corpus, $silesia/$name.bz2" download "$name"
done <<'END'
b24c37886142e11d0ee687db6ab06f936207aa7f2ea1fd1d9a36763c7a507e6a dickens
68637ed52e3e4860174ed2dc0840ac77d5f1a60abbcb13770d5754e3774d53e6 mr
fc63a31770947b8c2062d3b19ca94c00485a232bb91b502021948fee983e1635 nci
e7ee013880d34dd5208283d0d3d91b07f442e067454276095ded14f322a656eb ooffice
60f027179302ca3ad87c58ac90b6be72ec23588aaa7a3b7fe8ecc0f11def3fa3 osdb
0eac0114a3dfe6e2ee1f345a0f79d653cb26c3bc9f0ed79238af4933422b7578 reymont
0e82e54e695c1938e4193448022543845b33020c8be6bf3bf3ead2224903e08c xml
END
need 18b378eef2b328665897ecf14f2a14406f17c27926811473c0f490ffc9a98971 waveforms-generated/nab.npy "generated" waveforms nab
need d07399c4f9131907daaf62604a63c4a254c434cc0348d5d40ff5ba839402f179 waveforms-generated/nedm.npy "generated" waveforms nedm
need 99cf92a88d833e66809486db5afec5a75ec4764c0779043b0506aec5da651aa7 waveforms-generated/noptrex.npy "generated" waveforms noptrex
need c8361cb3df673da3fe22a034dd228c537971e92200b92a807b7aa089289bd058 gateway/payloads "generated by linerate gateway generate" gateway
need fd93ca0c40fef516733f620ea22f89374c9c5f1552f724fc99f79a2a4f1e0d7a web/files "1,330 HTML, CSS, JavaScript and JSON files of npm packages"
need 33273bce6fe7c8ba088dabc1fb4468d8611b71a29c990029d3d36a1a4166e703 textures "DDS files of the games ROTanks and tps-demo, and small files of mods in textures/text"
need 6f55edcc8a1ce3bfd440bb11451efde4ae0ad25997b68009d7abaab0b85ec0bd textures-unseen/bc4 "gloss maps of Debian's supertuxkart-data, encoded" encoded bc4 1 '*gloss*'
need bea1f65ee449635e95f72d890d82d38b72bc1f52d45965e7cc071430de2933ac textures-unseen/bc7 \
  "textures of Debian's supertuxkart-data, encoded" encoded bc7 32 '*'
while read -r sum format; do
  need "$sum" "textures-unseen/$format" "DDS files of Debian's 0ad-data and flightgear-data" unseen "$format"
done <<'END'
0b360d0dd6537520b13bcc3136e6c8406be6fe14e491332116dd0e12e31310e0 bc1
2197b0e57eec688cd294e29fa9b9957314ff3f58dd97bb6a4dc219fc3c67b445 bc3
bd832fadc8db7df3e8890af1255b561eaac8c1bbcd3e3fe1ec3fa9c45eb8aab9 bc5
END
# Verifies or makes a set in planner/: data on which plans are judged.
planner() { # NAME WHAT COMMAND...
  local name=$1 what=$2
  shift 2
  need "$(awk -v name="$name" '$2 == name { print $1 }' <<<"$planner_sums")" "planner/$name" "$what" "$@"
}
planner_sums=$(cat <<'END'
899d487c095bc2fc2d50e408aa5daa739a482e19633d0a20cea834a8e5e67cd8 html
60698b7fe00f18fa71ae5238a4433007ab8edccb817add73deb607bd594ab4ef source
0b3c15e9f12ccf98a7d6454e3c211af6900fdd42a536228c9999619c0e1a7dee elf
cfd89b9f1b119c48a0f22c1ca533a9df292eead072bba817200651cd395a64e6 wav
06ec5777dc2ce03bb272814e5dfa001cefcd905ac533384eaefec18203eed00d access.log
fd9402899b44f64c2983ef6adc1c1c255b0a56e2881486bda1a78f1871fb5f88 rows.json
3143721f6faf399d4fe949b42270e03e4c70da37d2ee92f1ead71eb62f9db09e shop.sqlite
08d99e51316fbee3e53865bdc7dabeaf446f679b7e051a8b8d873c2cfe753545 int16.npy
5f1f5edfc8017f505e6cab26dba45e82583bea4b479efdf4e1a0036b45bd0165 int32.npy
3e86b72782eb5faf9b9f6c872588c79deac895692264d42293898cbf418810b6 float.npy
de96f9bd9d0f54936bf05091085210e18dd39f66b700df5dfe1171cc45254e7f office
04141ed667a5dbac5a5006aae954579dbc946984c52b4c606235d34ebeccd980 png
39ba85a1d0293be85fb1dbf5af6f33a32a905a9b3071f6f21f0afd45283cda3b dds
END
)
planner html "HTML of Debian's libstdc++-12-doc and ghc-doc" unpacked html '*.html' \
  libstdc++-12-doc=12.2.0-14+deb12u1 ghc-doc=9.0.2-4
planner source "Go of Debian's golang-1.19-src and golang-github-aws-aws-sdk-go-dev" unpacked source '*.go' \
  golang-1.19-src=1.19.8-2 golang-github-aws-aws-sdk-go-dev=1.44.133-1
planner elf "libraries of Debian's libllvm15, libclang-cpp15, libqt6webenginecore6 and libvtk9.1" \
  unpacked elf '*/usr/lib/*' libllvm15=1:15.0.6-4+b1 libclang-cpp15=1:15.0.6-4+b1 \
  libqt6webenginecore6=6.4.2-final+dfsg-1 libvtk9.1=9.1.0+really9.1.0+dfsg2-5+deb12u1
planner png "PNG files of Debian's widelands-data" unpacked png '*.png' widelands-data=2:1.1-3
planner wav "Debian's asterisk-core-sounds in five languages, and asterisk-moh-opsound-wav" unpacked wav '*.wav' \
  asterisk-core-sounds-{en,es,fr,it,ru}-wav=1.6.1-1 asterisk-moh-opsound-wav=2.03-1.1
planner dds "DDS files of Debian's 0ad-data" planner_dds
for name in access.log rows.json shop.sqlite int16.npy int32.npy float.npy office; do
  planner "$name" "generated by scripts/planner-sets.py" python3 scripts/planner-sets.py "$name" "$dir/planner/$name"
done
while read -r sum name; do
  need "$sum" "waveforms/$name.npy" "a recording of legend-testdata or wfdb's sample data as a two-dimensional array"
done <<'END'
ba209eb401ef7c55ca4474c399176591e7a97e8e8cc4843f0018a086b0253f6f real_ecg_mitbih100
5509447aae1d9cc3496c93a0302787a97ecf80e6403b3202bf3bdc2ba6ed1ad3 real_fcio_p06cal
2c880e5e26d34c95c25592f3045a010eb684da2716a2f067ee2774b9eafe6d8e real_fcio_spms
eac08b398bacec3af601cd1ee257bcf9ceaa9625b1072569b4e1f5a60cc0a854 real_hpge_ldqta
3624c9321f1ecab00fa4128bfe6f94408f3f1d07c5e9b06dfd43e65729f7337f real_l200_phy_full
END

if [ ${#missing[@]} != 0 ]; then
  printf 'not as measured: %s\n' "${missing[@]}" >&2
  exit 1
fi
