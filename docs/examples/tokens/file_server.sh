#!/bin/sh
#
# file_server.sh FOLDER NAME [TEXT]: a file server that checks fencing tokens. It writes TEXT, or
# what comes on standard input, and runs where the files are, so that every writer comes through it:
# as the command of an ssh key, say.
#
#   $ redlock run report -- sh -c \
#       'ssh files "REDLOCK_TOKEN=$REDLOCK_TOKEN file_server.sh /srv report" <report'
#
# Beside FOLDER/NAME stands NAME.token, the largest token that wrote it, and NAME.lock, which no two
# writers hold at once: flock(1) makes looking and writing one step. It does not replace the lock
# over the nodes: it lasts for a moment, and on this machine alone.
#
# Exit status: 0 written; 1 refused, a later holder was here; 64 usage; others from the commands.
set -eu

usage() {
  echo "usage: REDLOCK_TOKEN=N file_server.sh FOLDER NAME [TEXT]" >&2
  exit 64
}

case $# in 2 | 3) ;; *) usage ;; esac
case $2 in '' | .* | */*) usage ;; esac
token=${REDLOCK_TOKEN:-}
case $token in '' | *[!0-9]*) usage ;; esac
file=$1/$2
new=$1/.$2.new.$$
trap 'rm -f "$new"' EXIT
# The slow part, before anything is locked.
if [ $# = 3 ]; then printf '%s\n' "$3"; else cat; fi >"$new"
sync "$new"

exec 9>"$file.lock"
flock 9
largest=$(cat "$file.token" 2>/dev/null || echo 0)
if [ "$token" -lt "$largest" ]; then
  echo "refused: token $token is older than $largest, which wrote since" >&2
  exit 1
fi
# The token first: if we die between the two, the same holder can write again, an older one cannot.
# An equal token is the same holder again.
echo "$token" >"$file.token.new"
sync "$file.token.new"
mv "$file.token.new" "$file.token"
mv "$new" "$file"
sync "$1"
