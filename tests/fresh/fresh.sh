#!/usr/bin/env bash
#
# fresh.sh WORD...: ./dev WORD... on a clean clone of HEAD in a new Debian 12 on which nothing has
# been installed before (minbase: what a chroot needs at least). Run by ./dev fresh, as root.
#
# The system is made in a temporary folder and removed at the end. Its mounts and its processes live
# in namespaces of their own: when this script ends, however it ends, none of them is left. Of the
# host it takes what reaching the mirror needs: the mirror itself, apt's proxy, resolv.conf, hosts.
# Packages that were downloaded stay in build/fresh, so that the next run is quick; ./dev clean
# removes them.
set -euo pipefail

readonly suite=bookworm
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=$repository/build/fresh
readonly repository cache

say() { echo "fresh: $*"; }

main() {
  # /var/tmp, not /tmp: a system and a build take some 2 GB, which is much for a memory disk.
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/redlock-fresh.XXXXXX")
  # Out here nothing is mounted below it, so this removes nothing but the folder.
  trap 'rm -rf --one-file-system "$root"' EXIT
  mkdir -p "$cache"
  say "a new Debian 12 in $root"
  make_system
  [[ -z $(git -C "$repository" status --porcelain) ]] || say "what is not committed is left out"
  git clone --quiet --no-hardlinks "$repository" "$root/redlock"
  say "./dev $*"
  unshare --mount --propagation private --pid --fork --kill-child \
    "${BASH_SOURCE[0]}" --inside "$root" "$@"
  say "./dev $* passed on a fresh machine after $((SECONDS / 60)) min $((SECONDS % 60)) s"
}

make_system() {
  local mirror
  mirror=$(host_repositories | sed -n "s/ $suite .*//p" | head -n 1)
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  export http_proxy=${http_proxy:-} https_proxy=${https_proxy:-}
  debootstrap --variant=minbase --cache-dir="$cache" ${mirror:+--include=$(transport "$mirror")} \
    "$suite" "$root" ${mirror:+"$mirror"} >"$cache/debootstrap.log" ||
    { tail -n 20 "$cache/debootstrap.log" >&2 && return 1; }
  host_repositories | sed 's/^/deb /' >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::https?::' >"$root/etc/apt/apt.conf.d/00host" || true
  cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
}

# "URI SUITE COMPONENT" of every repository of this Debian that the host's apt uses.
host_repositories() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    grep -E " $suite(-updates|-security)? " | sort -u
}

# What a system needs to reach its mirror.
transport() { case $1 in https:*) echo apt,ca-certificates ;; *) echo apt ;; esac }

# The rest runs as the first process of the new namespaces.
inside() {
  local root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --bind "$cache" "$root/var/cache/apt/archives"
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
    chroot "$root" /redlock/dev "$@"
}

if [[ ${1:-} == --inside ]]; then inside "${@:2}"; else main "$@"; fi
