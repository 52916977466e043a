# What `up` and `down` share: where the cluster is, who it runs as, and its ports. Both are sh, and read this file.

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
  found="/usr/lib/postgresql/${version%%/*}/bin"
  [ ! -x "$found/initdb" ] || programs=$found
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

# Nothing of this runs as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid "$CLUSTER_USER" --regid "$(id -g "$CLUSTER_USER")" --init-groups -- "$@"
  else
    "$@"
  fi
}

folder=$CLUSTER_FOLDER
. "$here/../processes.sh"
