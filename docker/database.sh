#!/bin/sh
# Makes what the service needs of a database: the extensions, which only a superuser may create, and a role that owns
# the schema and may do nothing else on the server. With SERVICE_PASSWORD also a role for the service that owns nothing:
# then the owner runs `agro migrate` and `agro grants`, and the service has MIGRATE_ON_START=false. The image of the
# database runs it once, in a new volume; by hand it is run as a superuser, with the variables below and those of psql
# (PGHOST, PGPORT ...). DATABASE_PASSWORD_FILE and SERVICE_PASSWORD_FILE name files with the
# passwords in them, in the place of DATABASE_PASSWORD and SERVICE_PASSWORD.
set -eu

: "${POSTGRES_USER:=postgres}"
: "${POSTGRES_DB:=agro}"
: "${DATABASE_USER:=agro}"
[ -z "${DATABASE_PASSWORD_FILE:-}" ] || DATABASE_PASSWORD=$(cat "$DATABASE_PASSWORD_FILE")
: "${DATABASE_PASSWORD:?the password that the role is to have}"
: "${SERVICE_USER:=agro_service}"
[ -z "${SERVICE_PASSWORD_FILE:-}" ] || SERVICE_PASSWORD=$(cat "$SERVICE_PASSWORD_FILE")
[ -n "${SERVICE_PASSWORD:-}" ] || unset SERVICE_PASSWORD
export DATABASE_USER DATABASE_PASSWORD SERVICE_USER
[ -z "${SERVICE_PASSWORD:-}" ] || export SERVICE_PASSWORD

# Passwords are read from the environment: on a command line, others on the machine could see it.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\getenv user DATABASE_USER
\getenv password DATABASE_PASSWORD
begin;
create extension if not exists postgis;
create extension if not exists postgis_raster;

create role :"user" login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
alter schema public owner to :"user";
-- Rasters may be in CRSs that PostGIS does not have (ESRI's, UTM on old datums). Loading one adds a row here; rows
-- that are there cannot be changed or deleted.
grant insert on spatial_ref_sys to :"user";
-- Nobody else comes in, whatever other roles the server has.
revoke all on schema public from public;
select format('revoke all on database %I from public', current_database()) \gexec
select format('grant connect, temporary on database %I to %I', current_database(), :'user') \gexec
\getenv service_user SERVICE_USER
\getenv service_password SERVICE_PASSWORD
\if :{?service_password}
create role :"service_user"
  login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'service_password';
select format('grant connect, temporary on database %I to %I', current_database(), :'service_user') \gexec
grant insert on spatial_ref_sys to :"service_user";
\endif
commit;
SQL
