#!/bin/sh
# Runs a replica that streams from the service `database`: of a copy of it, which is made where the volume is empty.
set -eu

: "${PRIMARY_HOST:=database}"
: "${PRIMARY_PORT:=5432}"
: "${PGDATA:=/var/lib/postgresql/data}"
copy="$PGDATA/copy"

# A copy that was not made to its end is none: it gets its name when it is whole.
if [ ! -s "$PGDATA/replica/PG_VERSION" ]; then
  rm -rf "$copy"
  PGPASSWORD=$(cat "$REPLICATION_PASSWORD_FILE") pg_basebackup --pgdata "$copy" --checkpoint fast --wal-method stream \
    --write-recovery-conf --no-password --host "$PRIMARY_HOST" --port "$PRIMARY_PORT" --username agro_replica
  mv "$copy" "$PGDATA/replica"
fi

exec postgres -D "$PGDATA/replica" -c 'listen_addresses=*' "$@"
