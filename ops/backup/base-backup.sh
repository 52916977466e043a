#!/bin/sh
# Takes a base backup of the server that PGHOST, PGPORT and PGUSER name, and removes what it takes no more to restore any
# moment of the last KEEP_DAYS: older backups, and the write-ahead log that they alone need.
set -eu
umask 077

: "${BACKUPS:=/var/backups/agro-advisory}"
: "${KEEP_DAYS:=14}"
# Debian has the programs of each version in a folder of its own; the newest ones know older servers.
for folder in /usr/lib/postgresql/*/bin; do PATH="$folder:$PATH"; done

name_of_time() {
  date --utc --date "$1" +%Y-%m-%dT%H%M%S.%3NZ
}

cd "$BACKUPS/base"
trap 'rm -rf unfinished' EXIT
rm -rf unfinished
pg_basebackup --pgdata unfinished --format tar --gzip --wal-method stream --checkpoint fast --no-password
# It is of use for the moments after its end.
backup=$(name_of_time now)
mv unfinished "$backup"

# The oldest of these moments begins with the newest backup before it.
limit=$(name_of_time "$KEEP_DAYS days ago")
oldest=$(ls | awk -v limit="$limit" '$0 <= limit' | tail -n 1)
for name in $(ls | awk -v oldest="$oldest" '$0 < oldest'); do rm -rf "$name"; done

oldest=$(ls | head -n 1)
first_segment=$(tar --extract --gzip --to-stdout --file "$oldest/base.tar.gz" --occurrence=1 backup_label |
  sed -n 's/^START WAL LOCATION: .* (file \(.*\))$/\1/p')
pg_archivecleanup -x .gz "$BACKUPS/wal" "$first_segment"

echo "$BACKUPS/base/$backup is taken; the oldest backup that is kept is $oldest."
