# What the scripts of ops/cluster and ops/nodes share: processes of a folder, each under a name. Whoever reads this file has
# set `here`, where the script is, and `folder`, and says by `as_user` whom they run as.

fail() {
  echo "ops/${here##*/}/${0##*/}: $1" >&2
  exit 1
}

# The process of a name, such as patroni-1. Each has the folder among its parameters: another one that has got the number of
# one that ended has not.
pid_of() {
  pid=$(cat "$folder/run/$1.pid" 2>/dev/null) && grep -qs "$folder" "/proc/$pid/cmdline" && echo "$pid"
}

# Starts a program under a name, unless it runs: start NAME COMMAND...
start() {
  name=$1
  shift
  ! pid_of "$name" >/dev/null || return 0
  as_user setsid --fork sh -c 'echo $$ >"$1"; log=$2; shift 2; exec "$@" >>"$log" 2>&1' sh \
    "$folder/run/$name.pid" "$folder/log/$name" "$@" >/dev/null 2>&1 </dev/null
}

ended() { ! pid_of "$1"; }

# What hangs takes no signal before it goes on.
end_by=TERM
stop() {
  for name in "$@"; do
    if pid=$(pid_of "$name"); then kill -s "$end_by" "$pid" && kill -s CONT "$pid" 2>/dev/null || true; fi
  done
  for name in "$@"; do until_well "$name does not end" 60 ended "$name"; done
}

# Waits until a command does well: until_well WHAT SECONDS COMMAND...
until_well() {
  what=$1
  late=$(($(date +%s) + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$late" ] || fail "$what within the time there is; $folder/log says why."
    sleep 0.2
  done
}
