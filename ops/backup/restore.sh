#!/bin/sh
# Makes a data folder of the newest base backup before a moment, whose server then replays the archive up to that moment and
# is open: restore.sh DATA [TIME], as the user that PostgreSQL runs as. Without TIME, all that was archived is replayed.
set -eu
umask 077

: "${BACKUPS:=/var/backups/agro-advisory}"
data=$1
time=${2:-}

fail() {
  echo "restore.sh: $1" >&2
  exit 1
}

[ ! -e "$data" ] || [ -z "$(ls -A "$data")" ] || fail "$data is not empty."
moment=$(date --utc --date "${time:-now}" +%Y-%m-%dT%H%M%S.%3NZ) || fail "$time is not a time, such as 2026-11-22 10:15:00 UTC."
backup=$(ls "$BACKUPS/base" | awk -v moment="$moment" '/Z$/ && $0 < moment' | tail -n 1)
[ -n "$backup" ] || fail "$BACKUPS/base has no backup that had ended before $moment."
echo "restore.sh: laying down the base backup $backup"

mkdir -p "$data"
chmod 700 "$data"
tar --extract --gzip --file "$BACKUPS/base/$backup/base.tar.gz" --directory "$data"
tar --extract --gzip --file "$BACKUPS/base/$backup/pg_wal.tar.gz" --directory "$data/pg_wal"
# Debian has the programs of each version in a folder of its own.
PATH="/usr/lib/postgresql/$(cat "$data/PG_VERSION")/bin:$PATH"
pg_verifybackup --quiet --manifest-path "$BACKUPS/base/$backup/backup_manifest" "$data"

# A backup of a server that was restored itself has the moment of that in these settings: the last of a name is the one that holds.
target=
[ -z "$time" ] || target=$(date --utc --date "$time" '+%Y-%m-%d %H:%M:%S.%6N+00')
{
  archived="$BACKUPS/wal/%f.gz"
  echo "restore_command = 'test -e \"$archived\" && gunzip --stdout \"$archived\" >\"%p\"'"
  echo "recovery_target_action = 'promote'"
  echo "recovery_target_time = '$target'"
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
echo "restore.sh: start the server: it replays what was archived ${time:+up to $time }and is open then"
