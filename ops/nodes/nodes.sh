# What `up` and `down` share: where the processes are, how many there are, and what HAProxy is told. Both are sh, and read this
# file.

: "${NODES_FOLDER:=/var/tmp/agro-nodes}"
: "${NODES_HOST:=127.0.0.1}"
: "${NODES_PORT:=8080}"
: "${NODES:=2}"
: "${NODES_SOURCE:=$(CDPATH= cd "$here/../.." && pwd)}"

# Relative to where this is called.
absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
NODES_FOLDER=$(absolute "$NODES_FOLDER")
NODES_SOURCE=$(absolute "$NODES_SOURCE")

# Debian has HAProxy in a folder that only root looks into.
PATH="$PATH:/usr/sbin"
as_user() { "$@"; }
folder=$NODES_FOLDER
. "$here/../processes.sh"

case $NODES in '' | *[!0-9]* | 0*) fail "NODES is a number of processes, not $NODES." ;; esac
# HAProxy knows as many as there were when it was started.
if pid_of haproxy >/dev/null; then NODES=$(grep -c '^  server node-' "$folder/haproxy.cfg"); fi
numbers=$(seq "$NODES")

# A setting of ENV_FILE that the environment does not have: what is exported here comes before that file.
take_from_file() {
  eval "[ -z \"\${$1:-}\" ]" && [ -n "${ENV_FILE:-}" ] || return 0
  value=$(sed -n "s/^$1=\(.*\)/\1/p" "$ENV_FILE" | tail -n 1 | tr -d "\"'")
  [ -z "$value" ] || export "$1=$value"
}

node_port() { echo $((NODES_PORT + $1)); }

# Sends a line to HAProxy's socket, and prints what it answers.
ask_haproxy() {
  node -e '
    const [path, line] = process.argv.slice(1)
    const socket = require("node:net").connect(path, () => socket.end(`${line}\n`))
    socket.on("error", ({ message }) => { console.error(message); process.exitCode = 1 })
    socket.pipe(process.stdout)
  ' "$folder/haproxy.sock" "$1"
}

# Has HAProxy take a process for ready, or drain it: nothing new is sent there.
set_state() {
  said=$(ask_haproxy "set server advisory/node-$1 state $2")
  [ -z "$said" ] || fail "HAProxy says of node-$1: $said"
}

# What HAProxy knows of a process by a name: scur, how many requests are under way there, or status.
known_of() {
  ask_haproxy 'show stat' | awk -F, -v node="node-$1" -v name="$2" '
    NR == 1 { for (column = 1; column <= NF; column++) if ($column == name) wanted = column }
    $1 == "advisory" && $2 == node { print $wanted }'
}
