#!/usr/bin/env bash
#
# try_package.sh PACKAGE: installs the Debian package on a new Debian 12, uses what is in it, builds
# programs against it, and removes it again. Run by ./dev package --check, as root.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
downloads=$repository/build/fresh
readonly repository downloads
source "$repository/tests/fresh/system.sh"

say() { echo "package: $*"; }

root=$(mktemp -d "${TMPDIR:-/var/tmp}/redlock-package.XXXXXX")
# Out here nothing is mounted below it, so this removes nothing but the folder.
trap 'rm -rf --one-file-system "$root"' EXIT
say "a new Debian 12 in $root"
make_system "$root" "$downloads"
mkdir "$root/try"
cp "$1" "$root/try/redlock.deb"
cp -r "$repository/tests/package"/{inside.sh,use_library.sh,consumer} "$root/try"
mkdir "$root/try/examples"
[[ ! -d $repository/docs/examples ]] || cp -r "$repository/docs/examples" "$root/try"
in_system "$root" "$downloads" /try/inside.sh
say "installed, used and removed on a fresh machine after $((SECONDS / 60)) min $((SECONDS % 60)) s"
