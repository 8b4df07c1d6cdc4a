#!/bin/sh
# A service and simulated visitors, in a folder of its own; Ctrl-C ends both. PROGRAM is the graphbandit to run.
set -eu
program=${PROGRAM:-graphbandit}
folder=${FOLDER:-results/service}
port=${PORT:-8765}
mkdir -p "$folder"
[ -f "$folder/bandits.toml" ] || "$program" serve --new "$folder/bandits.toml"
"$program" serve "$folder/bandits.toml" --port "$port" > "$folder/address.txt" 2> "$folder/log.jsonl" &
service=$!
trap 'kill "$service" 2>/dev/null; wait "$service" || true' EXIT
trap 'exit 0' INT TERM
echo "starting (the first start compiles for a minute) ..."
while ! grep -q http "$folder/address.txt"; do
  kill -0 "$service" 2>/dev/null || { cat "$folder/log.jsonl"; exit 1; }
  sleep 0.2
done
cat "$folder/address.txt"
"$program" service demo --url "http://127.0.0.1:$port" ${VISITORS:+--visitors "$VISITORS"}
