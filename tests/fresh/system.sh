# shellcheck shell=bash
# For tests that want a machine of their own: a minimal Debian 12 in a folder. To be sourced by a
# script of root.
#
#   make_system ROOT CACHE             # debootstrap, minbase: what a chroot needs at least
#   in_system ROOT CACHE COMMAND...    # runs a command in it
#
# CACHE keeps the packages that were downloaded, so that the next system is quick. Mounts and
# processes live in namespaces of their own: when in_system ends, however it ends, none of them is
# left. Of the host it takes what reaching the mirror needs: the mirror itself, apt's proxy,
# resolv.conf, hosts.

readonly suite=bookworm

make_system() {
  local root=$1 cache=$2 mirror
  mkdir -p "$cache"
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

in_system() {
  unshare --mount --propagation private --pid --fork --kill-child \
    bash -euc "$(declare -f run_inside); run_inside \"\$@\"" run_inside "$@"
}

# The first process of the new namespaces.
run_inside() {
  local root=$1 cache=$2
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --bind "$cache" "$root/var/cache/apt/archives"
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
    chroot "$root" "${@:3}"
}
