#!/usr/bin/env bash
# websocket-peers.sh [MESSAGES [FILE]]: runs linerate-websocket over tungstenite, tokio and axum
# against other websocket libraries, in both directions, with every window, with takeover and
# without. Each connection has MESSAGES (10,000) messages each way; half of those for the peers are
# prepared ones. Rows of records/websocket-peers.csv go to FILE. The status is 77 if a tool is
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
messages=${1:-10000}
file=${2:-target/websocket-peers.csv}
folder=$PWD/target/websocket-peers
sources=$PWD/crates/websocket/peers
for tool in node npm python3 go; do
  command -v "$tool" >/dev/null || { echo "websocket-peers.sh: no $tool" >&2; exit 77; }
done

mkdir -p "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" ws@8
[ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'websockets>=14'
go build -C "$sources/go" -o "$folder/go-peer" .
"$cargo" build --quiet --locked --package linerate-websocket --features axum --example peers
peers=${CARGO_TARGET_DIR:-target}/debug/examples/peers

export NODE_PATH=$folder/node_modules
ws=$(node -p 'require("ws/package.json").version')
websockets=$("$folder/venv/bin/python" -c 'import websockets; print(websockets.__version__)')
coder=$(sed -n 's/^require .* v//p' "$sources/go/go.mod")
{
  echo 'peer,role,bits,messages,prepared,server_bits,server_window,client_bits,client_window'
  "$peers" "$messages" "ws $ws (Node.js $(node -p process.versions.node))" node "$sources/ws.js"
  "$peers" "$messages" "websockets $websockets (Python)" "$folder/venv/bin/python" "$sources/websockets_peer.py"
  "$peers" "$messages" "coder/websocket $coder (Go)" "$folder/go-peer"
} | tee "$file"
