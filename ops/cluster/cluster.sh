# What `up` and `down` share: where the cluster is, who it runs as, and its processes. Both are sh, and read this file.

: "${CLUSTER_FOLDER:=/var/tmp/agro-cluster}"
: "${CLUSTER_PORT:=5550}"
: "${CLUSTER_USER:=postgres}"
MEMBERS='1 2 3'

# Debian has PgBouncer and HAProxy in a folder that only root looks into, and the programs of each version of PostgreSQL in
# one of its own, of which the newest that has PostGIS is taken.
PATH="$PATH:/usr/sbin"
programs=
for control in /usr/share/postgresql/*/extension/postgis_raster.control; do
  version=${control#/usr/share/postgresql/}
  folder="/usr/lib/postgresql/${version%%/*}/bin"
  [ ! -x "$folder/initdb" ] || programs=$folder
done
PATH="$programs:$PATH"

# Where they listen, all of them on this machine alone. Those of members are three each, one a member.
leader_port=$CLUSTER_PORT
replicas_port=$((CLUSTER_PORT + 1))
maintenance_port=$((CLUSTER_PORT + 2))
postgres_port() { echo $((CLUSTER_PORT + 2 + $1)); }
pool_port() { echo $((CLUSTER_PORT + 5 + $1)); }
patroni_port() { echo $((CLUSTER_PORT + 8 + $1)); }
etcd_port() { echo $((CLUSTER_PORT + 11 + $1)); }
etcd_peer_port() { echo $((CLUSTER_PORT + 14 + $1)); }

fail() {
  echo "ops/cluster/${0##*/}: $1" >&2
  exit 1
}

# Nothing of this runs as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid "$CLUSTER_USER" --regid "$(id -g "$CLUSTER_USER")" --init-groups -- "$@"
  else
    "$@"
  fi
}

# The process of a name, such as patroni-1. Each has the folder among its parameters: another one that has got the number of
# one that ended has not.
pid_of() {
  pid=$(cat "$CLUSTER_FOLDER/run/$1.pid" 2>/dev/null) && grep -qs "$CLUSTER_FOLDER" "/proc/$pid/cmdline" && echo "$pid"
}

# Starts a program under a name, unless it runs: start NAME COMMAND...
start() {
  name=$1
  shift
  ! pid_of "$name" >/dev/null || return 0
  as_user setsid --fork sh -c 'echo $$ >"$1"; log=$2; shift 2; exec "$@" >>"$log" 2>&1' sh \
    "$CLUSTER_FOLDER/run/$name.pid" "$CLUSTER_FOLDER/log/$name" "$@" >/dev/null 2>&1 </dev/null
}

# Waits until a command does well: until_well WHAT SECONDS COMMAND...
until_well() {
  what=$1
  late=$(($(date +%s) + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$late" ] || fail "$what within the time there is; $CLUSTER_FOLDER/log says why."
    sleep 0.2
  done
}
