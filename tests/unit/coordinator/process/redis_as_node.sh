#!/bin/bash
# A Redis server with the command line of a lock node: what LocalNodes's tests start as nodes.
# --bootstrap leaves a file, and is refused where one is. Debian's redis-check-rdb is the server
# when it is called by that name.
if [ "$1" = --bootstrap ]; then
  [ "$2" = --dir ] || exit 64
  [ ! -e "$3/bootstrapped" ] || { echo "bootstrapped already"; exit 1; }
  exec touch "$3/bootstrapped"
fi
exec -a redis-server /usr/bin/redis-check-rdb "$@" --save "" --bind 127.0.0.1
