#!/usr/bin/env bash
#
# fresh.sh WORD...: ./dev WORD... on a clean clone of HEAD in a new Debian 12 on which nothing has
# been installed before. Run by ./dev fresh, as root.
#
# The system is made in a temporary folder and removed at the end. Packages that were downloaded
# stay in build/fresh; ./dev clean removes them.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
downloads=$repository/build/fresh
readonly repository downloads
source "$repository/tests/fresh/system.sh"

say() { echo "fresh: $*"; }

# /var/tmp, not /tmp: a system and a build take some 2 GB, which is much for a memory disk.
root=$(mktemp -d "${TMPDIR:-/var/tmp}/redlock-fresh.XXXXXX")
# Out here nothing is mounted below it, so this removes nothing but the folder.
trap 'rm -rf --one-file-system "$root"' EXIT
say "a new Debian 12 in $root"
make_system "$root" "$downloads"
[[ -z $(git -C "$repository" status --porcelain) ]] || say "what is not committed is left out"
git clone --quiet --no-hardlinks "$repository" "$root/redlock"
say "./dev $*"
in_system "$root" "$downloads" /redlock/dev "$@"
say "./dev $* passed on a fresh machine after $((SECONDS / 60)) min $((SECONDS % 60)) s"
