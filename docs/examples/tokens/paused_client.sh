#!/usr/bin/env bash
#
# paused_client.sh WRITE...: a client that is paused while it holds a lock, and writes late.
# WRITE... is a command that writes its last argument under REDLOCK_TOKEN, or fails if refused:
#
#   $ paused_client.sh ./database.py reports.db write report
#
# A takes the lock for a second, and is stopped before it writes: SIGSTOP stands for a long garbage
# collection, a laptop that is closed, a page that a dead disk owes. Nobody can tell A that its lock
# has run out. B gets the lock and a larger token, and writes. Then A goes on and writes what it
# wanted to write, long after its time. It is for the store to refuse it.
#
# The nodes are those of REDLOCK_NODES. Exit status: 0 B wrote and A was refused; 1 not so.
set -euo pipefail

fail() {
  echo "paused_client: $*" >&2
  exit 1
}

(($# > 0)) || fail "usage: paused_client.sh WRITE..."

a() {
  local lock
  lock=$(redlock acquire paused-client --ttl 1s --wait 10s)
  eval "$lock"
  echo "A has token $REDLOCK_TOKEN and is about to write"
  kill -STOP "$BASHPID"
  # Awake again, and none the wiser.
  "$@" "by A"
}

a "$@" &
paused=$!
trap 'kill -KILL "$paused" 2>/dev/null || true' EXIT
until [[ $(cut -d' ' -f3 "/proc/$paused/stat") == T ]]; do
  kill -0 "$paused" 2>/dev/null || fail "A did not get the lock"
  sleep 0.05
done
echo "A is paused; B waits for the lock"
# shellcheck disable=SC2016
redlock run --ttl 5s --wait 10s paused-client -- \
  bash -c 'echo "B has token $REDLOCK_TOKEN and writes"; "$@"' b "$@" "by B" ||
  fail "B could not write: exit status $?"
echo "A goes on and writes late"
kill -CONT "$paused"
if wait "$paused"; then fail "A overwrote what B wrote"; fi
echo "A was refused, what B wrote is still there"
