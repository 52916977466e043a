#!/bin/sh
# Lets a replica stream from this server: a role that may do that alone, and the line of pg_hba.conf that lets it in. The
# image of the database runs it once, in a new volume. In an older one, run it in the container:
# docker compose exec database sh /docker-entrypoint-initdb.d/30-replication.sh
set -eu

: "${POSTGRES_USER:=postgres}"
REPLICATION_PASSWORD=$(cat "$REPLICATION_PASSWORD_FILE")
export REPLICATION_PASSWORD

# From the environment, as in database.sh.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password REPLICATION_PASSWORD
create role agro_replica login replication nosuperuser nocreatedb nocreaterole nobypassrls password :'password';
SQL

echo 'host replication agro_replica all scram-sha-256' >>"$PGDATA/pg_hba.conf"
psql --no-psqlrc --quiet --username "$POSTGRES_USER" --dbname postgres --command 'select pg_reload_conf()' >/dev/null
