#!/usr/bin/env bash
#
# The part of try_package.sh that runs on the new machine: step by step, the first that fails ends
# it.
set -euo pipefail
cd /try

say() { echo "package: $*"; }

fail() {
  say "$@" >&2
  exit 1
}

main() {
  apt_get update
  install_it
  check_files
  use_programs
  use_libraries
  remove_it
}

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends "$@" >log 2>&1 </dev/null ||
    fail "apt-get $*: $(cat log)"
}

# With nothing but what a minimal system has, and libuv and OpenSSL, which libredlock shares with
# the program that loads it: the programs need no library that such a system has not. The program
# that makes the user is another addition, and is not needed.
install_it() {
  apt_get install ./redlock.deb
  [[ -z $(ldd /usr/bin/redlock /usr/bin/redlock-node |
    grep -E 'libuv|libssl|libcrypto|libstdc|not found') ]] ||
    fail "the programs need more than a minimal system has"
  [[ -z $(getent passwd redlock) ]] || fail "a user was made without systemd-sysusers"
  apt_get install systemd-standalone-sysusers
  apt_get reinstall ./redlock.deb
  [[ -n $(getent passwd redlock) ]] || fail "the user redlock was not made"
  [[ -z $(find /proc/[0-9]* -maxdepth 1 -name exe -lname '*redlock*' 2>/dev/null) ]] ||
    fail "the package started something"
  say "installed; depends on $(dpkg-query -W -f '${Depends}' redlock)"
}

check_files() {
  local file
  for file in /usr/bin/redlock /usr/bin/redlock-node /usr/include/redlock/client.h \
    /usr/include/redlock/redlock.h "$(echo /usr/lib/*/libredlock.so.0.1)" \
    /usr/lib/systemd/system/redlock-node@.service \
    /usr/lib/systemd/system/redlock-door.service /usr/lib/sysusers.d/redlock.conf \
    /etc/redlock/redlock.conf /etc/redlock/redlock-node.conf \
    /usr/share/man/man1/redlock.1.gz /usr/share/man/man1/redlock-node.1.gz \
    /usr/share/bash-completion/completions/redlock{,-node} \
    /usr/share/zsh/vendor-completions/_redlock{,-node} \
    /usr/share/doc/redlock/{copyright,changelog.gz}; do
    [[ -s $file ]] || fail "$file is missing"
  done
  [[ $(dpkg-query -W -f '${Conffiles}' redlock | grep -c '^ */etc/redlock/') == 2 ]] ||
    fail "settings are no conffiles"
  dpkg --verify redlock || fail "what is installed is not what was packed"
  for file in $(dpkg -L redlock); do
    [[ -z $(find "$file" -maxdepth 0 \( ! -user root -o -perm /022 \) ! -type l) ]] ||
      fail "$file can be written by others: $(ls -ld "$file")"
  done
}

# One node, with the settings file as it was installed, and a lock on it.
use_programs() {
  local port=$((12000 + RANDOM % 18000)) node status=0
  local settings=(/etc/redlock/redlock-node.conf --port "$port" --dir /var/tmp/node)
  redlock-node "${settings[@]}" --bootstrap >log
  redlock-node "${settings[@]}" >log 2>&1 &
  node=$!
  export REDLOCK_NODES=redis://127.0.0.1:$port
  eval "$(redlock acquire printer --wait 10s)"
  redlock acquire printer 2>/dev/null || status=$?
  [[ $status == 75 ]] || fail "a lock was given away twice, or $status"
  redlock release printer --value "$REDLOCK_VALUE"
  redlock run printer -- true
  kill "$node"
  wait "$node" || fail "the node ended with $?: $(cat log)"
  say "a node and a lock on it work"
}

use_libraries() {
  local suggested folders=(consumer)
  suggested=$(dpkg-query -W -f '${Suggests}' redlock | tr -d ,)
  # shellcheck disable=SC2086
  apt_get install g++ cmake make pkg-config libsqlite3-dev $suggested
  for folder in examples/*/CMakeLists.txt; do
    [[ ! -e $folder ]] || folders+=("${folder%/*}")
  done
  ./use_library.sh /usr "${folders[@]}"
}

# A removed package leaves its settings, a purged one nothing.
remove_it() {
  local file
  dpkg -L redlock | grep -v '^/\.$' >files
  apt_get remove redlock
  [[ -s /etc/redlock/redlock.conf && ! -e /usr/bin/redlock ]] || fail "remove took the wrong files"
  apt_get purge redlock
  while read -r file; do
    [[ ! -e $file ]] || dpkg -S "$file" &>/dev/null || fail "$file was left behind"
  done <files
  [[ -z $(dpkg-query -W -f '${Status}' redlock 2>/dev/null) ]] || fail "dpkg still knows it"
  say "removed, and nothing of it is left"
}

main
