#!/usr/bin/env bash
#
# demo.sh BUILD: what a lock over five nodes is worth, shown in a minute on this machine: the lock
# is taken, refused to others, held around a job, and stays safe when a node is killed. Run by
# ./dev demo. It stands with the tests because it is one: each step is checked, and a step that does
# not end as it says ends the demo with status 1.
#
# The nodes get free ports and a temporary folder; neither a process nor a file is left behind.
set -euo pipefail

# Short, so that the wait after a crash is: a node that was killed waits max-ttl and a little more.
readonly max_ttl=15s

PATH=$(cd "$1" && pwd):$PATH
folder=$(mktemp -d "${TMPDIR:-/tmp}/redlock-demo.XXXXXX")
declare -a ports pids
unset REDLOCK_VALUE REDLOCK_TOKEN

main() {
  trap clean_up EXIT
  trap 'exit 1' INT TERM
  five_nodes
  one_holder
  a_job_under_a_lock
  redis_clients
  a_crash
  heading "Done after $SECONDS s. Yours to try: ./dev up"
}

five_nodes() {
  heading "Five lock nodes. A lock is held by whoever has it on three of them."
  local i
  for i in {1..5}; do
    ports[i]=$(free_port)
    # The nodes of a new group: we vouch that no lock is live, so they grant at once.
    redlock-node --bootstrap --dir "$folder/node-$i" >>"$folder/node-$i.log" 2>&1
    start_node "$i"
    wait_for_node "$i"
  done
  REDLOCK_NODES=$(printf ',redis://127.0.0.1:%s' "${ports[@]}")
  export REDLOCK_NODES=${REDLOCK_NODES:1}
  heading "They are made one group: who names only some of them is refused (exit status 78)."
  show 0 redlock group create
  show 78 redlock acquire printer --nodes "redis://127.0.0.1:${ports[1]}"
  show 0 redlock status
}

one_holder() {
  heading "The first caller gets the lock, the second is told that it is held (exit status 75)."
  show 0 redlock acquire printer --ttl 10s
  eval "$output"
  show 75 redlock acquire printer --ttl 10s
  heading "Only the holder, who knows the value, can release it. Then it is free for the next."
  show 1 redlock release printer --value guessed
  show 0 redlock release printer --value "$REDLOCK_VALUE"
  show 1 redlock holder printer
}

a_job_under_a_lock() {
  heading "redlock run holds a lock while a command runs, and extends it as long as it takes."
  # The nodes grant no more than max-ttl; a third of 3s is short enough to see extensions.
  local options=(--no-wait --ttl 3s)
  echo "\$ redlock run ${options[*]} nightly -- sh -c 'sleep 4; exit 7' &"
  redlock run "${options[@]}" nightly -- sh -c 'sleep 4; exit 7' &
  local job=$! status=0
  until redlock holder nightly >/dev/null; do
    kill -0 "$job" 2>/dev/null || fail "the job ended before it was seen to hold the lock"
    sleep 0.05
  done
  show 75 redlock run "${options[@]}" nightly -- echo "this is never printed"
  wait "$job" || status=$?
  echo "The first one ended with the status of its command: $status."
  ((status == 7))
}

redis_clients() {
  heading "A node speaks the Redis protocol. A key that would never expire is refused."
  show_reply OK redis-cli -p "${ports[3]}" SET lock alice NX PX 10000
  show_reply "" redis-cli -p "${ports[3]}" SET lock bob NX PX 10000
  show_reply "ERR*" redis-cli -p "${ports[3]}" SET lock alice
}

# Alice's lock is node 3's for sure. The quorum of the other one may be without it, where the
# machine is busy: then it has nothing to wait for.
a_crash() {
  local port=${ports[3]}
  heading "Node 3 holds locks, is killed with -9 and started again: it remembers none of them."
  show 0 redlock acquire backup --ttl 10s
  eval "$output"
  kill_node 3
  start_node 3
  wait_for_node 3
  heading "So it grants nothing until every lock that it may have granted has run out."
  show_reply "ERR recovering*" redis-cli -p "$port" SET lock bob NX PX 10000
  show 0 redis-cli -p "$port" INFO restart
  heading "The lock is safe and the other four go on: held is held, and a new one is got."
  show 75 redlock acquire backup --ttl 10s
  show 0 redlock release backup --value "$REDLOCK_VALUE"
  show 0 redlock run --no-wait --ttl 10s report -- echo "four nodes are a quorum"
  wait_until_it_grants "$port"
  show_reply OK redis-cli -p "$port" SET lock bob NX PX 10000
  show 0 redlock status
}

wait_until_it_grants() {
  local left
  heading "The delay passes, and node 3 is back."
  while left=$(redis-cli -p "$1" INFO restart | sed -n 's/^delay_left_ms:\([0-9]*\).*/\1/p') &&
    ((left > 0)); do
    ((left / 1000 % 3 != 0)) || echo "node 3 grants nothing for another $left ms"
    sleep 1
  done
}

# --- nodes ---

start_node() {
  redlock-node --port "${ports[$1]}" --dir "$folder/node-$1" --max-ttl "$max_ttl" \
    >>"$folder/node-$1.log" 2>&1 &
  pids[$1]=$!
}

kill_node() {
  echo "\$ kill -9 ${pids[$1]}    # node $1"
  kill -9 "${pids[$1]}"
  wait "${pids[$1]}" 2>/dev/null || true
}

wait_for_node() {
  local give_up=$((SECONDS + 10))
  while kill -0 "${pids[$1]}" 2>/dev/null && ((SECONDS < give_up)); do
    [[ $(redis-cli -p "${ports[$1]}" PING 2>/dev/null) != PONG ]] || return 0
    sleep 0.05
  done
  cat "$folder/node-$1.log"
  fail "node $1 does not answer"
}

free_port() {
  local port
  while port=$((10000 + RANDOM % 20000)); do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

clean_up() {
  local status=$?
  trap '' INT TERM
  ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$folder"
  exit "$status"
}

# --- telling ---

heading() { printf '\n== %s\n' "$*"; }

# show STATUS COMMAND...: the command as one would type it, what it prints, and its status, which
# must be STATUS. Leaves what it printed on standard output in $output.
show() {
  local expected=$1 status=0
  shift
  output=
  printf '$ %s\n' "$*"
  output=$("$@") || status=$?
  [[ -z $output ]] || printf '%s\n' "$output"
  ((status == 0)) || echo "(exit status $status)"
  ((status == expected)) || fail "that should have ended with status $expected"
}

# show_reply PATTERN COMMAND...: the same for redis-cli, by what it prints.
show_reply() {
  local pattern=$1
  shift
  show 0 "$@"
  [[ -n $output ]] || echo "(nil)"
  # shellcheck disable=SC2053
  [[ $output == $pattern ]] || fail "that should have printed $pattern"
}

fail() {
  echo "demo: $*" >&2
  exit 1
}

main
