#!/usr/bin/env bash
# Measures how long it takes to load a GeoTIFF, against raster2pgsql | psql of the same file into the
# same server, by turns. Usage: bench/ingest.sh FILE.tif postgres://USER@HOST:PORT/POSTGRES [ROUNDS]
set -euo pipefail
file=$(realpath "$1")
server=$2
rounds=${3:-3}
cd "$(dirname "$0")/.."

base=${server%/*}
psql -q "$server" -c 'drop database if exists agro_bench' -c 'create database agro_bench'
folder=$(mktemp -d)
trap 'rm -rf "$folder"; psql -q "$server" -c "drop database agro_bench with (force)"' EXIT
cat >"$folder/manifest.yaml" <<YAML
product: yield
country_code: eth
crop: wheat
forecast_period: 2022-07
source: bench
licence: bench
layers:
  - { file: $file, scenario: Normal, unit: kg/ha }
YAML
export DATABASE_URL="$base/agro_bench"
node bin/run.mjs src/cli/agro.ts migrate >/dev/null

seconds() { local from=$EPOCHREALTIME; "$@" >/dev/null 2>&1; echo "$EPOCHREALTIME $from" | awk '{printf "%.2f", $1 - $2}'; }
reference() {
  psql -q "$DATABASE_URL" -c 'drop table if exists reference'
  raster2pgsql -t 16x16 -Y "$file" reference | psql -q "$DATABASE_URL"
}
ingest() { node bin/run.mjs src/cli/agro.ts ingest "$folder/manifest.yaml" --force; }

for round in $(seq "$rounds"); do
  theirs=$(seconds reference)
  ours=$(seconds ingest)
  echo "round $round: raster2pgsql | psql $theirs s, agro ingest $ours s, ratio $(echo "$ours $theirs" | awk '{printf "%.2f", $1 / $2}')"
done
