#!/bin/sh
# Makes the secrets that docker-compose.yml gives to the containers, in the folder `secrets` of where it is run: those
# that are not there yet. Run again, it changes nothing. The settings of .env may be secrets, too: they are kept there,
# and .env leads to them.
set -eu

# The users of the containers read the files, whose they are not; the folder keeps all others of this machine out.
mkdir -p secrets
chmod 700 secrets
umask 022

for name in jwt_secret postgres_password database_password service_password replication_password grafana_password; do
  [ -s "secrets/$name" ] || openssl rand -hex 32 >"secrets/$name"
done
# A password of your own with @, / or % in it has to be percent-encoded here.
[ -s secrets/database_url ] ||
  echo "postgres://agro:$(cat secrets/database_password)@database:5432/agro" >secrets/database_url
[ -s secrets/service_database_url ] ||
  echo "postgres://agro_service:$(cat secrets/service_password)@database:5432/agro" >secrets/service_database_url
# Only who owns nothing reads from a replica: the profile `replica` goes with `roles`.
[ -s secrets/database_read_url ] ||
  echo "postgres://agro_service:$(cat secrets/service_password)@replica:5432/agro" >secrets/database_read_url

if [ -f .env ] && [ ! -L .env ]; then
  mv .env secrets/settings
  chmod 644 secrets/settings
fi
[ -e secrets/settings ] || echo '# Settings of docs/operations.md, and those of compose: NAME=value' >secrets/settings
[ -L .env ] || ln -s secrets/settings .env
