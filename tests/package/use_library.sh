#!/usr/bin/env bash
#
# use_library.sh PREFIX FOLDER...: builds and runs programs that use the libraries installed below
# PREFIX, each in both ways that users have.
#
# A FOLDER/NAME is a CMake project that uses find_package(redlock) and builds the program NAME. The
# comment that opens its source, NAME.cpp or NAME.c, holds the other way, one line that is run as it
# stands:
#
#   //   c++ -std=c++20 NAME.cpp -o NAME $(pkg-config --cflags --libs redlock-client)
#
# The program is run without arguments and must end with 0; or, if the folder has an executable
# `try`, that is run with the program's path as its argument. REDLOCK_NODES names five nodes then,
# of the installed redlock-node.
set -euo pipefail

prefix=$1
multiarch=$(c++ -print-multiarch)
readonly prefix multiarch
scratch=$(mktemp -d)
trap 'end_nodes; rm -rf "$scratch"' EXIT
nodes=

# CMake's own choice is make; where there is ninja alone it has to be told.
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja

say() { echo "use_library: $*"; }

fail() {
  say "$@" >&2
  exit 1
}

end_nodes() { [[ -z $nodes ]] || { kill "$nodes" && wait "$nodes"; } || true; }

# Five nodes of a group; their addresses in REDLOCK_NODES.
start_nodes() {
  local attempt port
  for attempt in 1 2 3 4 5; do
    port=$((12000 + RANDOM % 18000))
    "$prefix/bin/redlock" up --port "$port" --dir "$scratch/up-$attempt" --json \
      --no-door --node-binary "$prefix/bin/redlock-node" >"$scratch/up" 2>"$scratch/up.errors" &
    nodes=$!
    until [[ -s $scratch/up ]] || ! kill -0 "$nodes" 2>/dev/null; do sleep 0.05; done
    [[ ! -s $scratch/up ]] || break
    nodes=
  done
  [[ -n $nodes ]] || fail "no nodes: $(cat "$scratch/up.errors")"
  REDLOCK_NODES=$(sed 's/.*"\(redis:[^"]*\)".*/\1/' "$scratch/up")
  export REDLOCK_NODES
}

build_with_cmake() {
  local build=$scratch/cmake-$2
  cmake -S "$1" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$build" >"$scratch/log" &&
    cmake --build "$build" >>"$scratch/log" || fail "$2 with CMake: $(cat "$scratch/log")"
}

# The line of the source's comment, in a copy of its folder.
build_with_pkg_config() {
  local copy=$scratch/pkg-config-$2 source=$2.cpp line
  cp -r "$1" "$copy"
  [[ -e $copy/$source ]] || source=$2.c
  line=$(sed -n '/^[^/]/q; s|^// *\(c[c+]\{1,2\} .*pkg-config.*\)|\1|p' "$copy/$source")
  [[ -n $line ]] || fail "$1/$source does not begin with a comment that has its c++ line"
  (cd "$copy" && PKG_CONFIG_PATH=$prefix/lib/$multiarch/pkgconfig bash -euc "$line") ||
    fail "$2 with pkg-config: $line"
}

# In the scratch folder, as a program may write where it runs. Its loader knows no PREFIX but /usr.
try() {
  local run=("$2")
  [[ ! -x $1/try ]] || run=("$(realpath "$1/try")" "$2")
  (cd "$scratch" && LD_LIBRARY_PATH=$prefix/lib/$multiarch \
    timeout 60 "${run[@]}" >"$scratch/log" 2>&1 </dev/null) ||
    fail "exit $? of $2: $(cat "$scratch/log")"
}

start_nodes
for folder in "${@:2}"; do
  name=$(basename "$folder")
  build_with_cmake "$folder" "$name"
  try "$folder" "$scratch/cmake-$name/$name"
  build_with_pkg_config "$folder" "$name"
  try "$folder" "$scratch/pkg-config-$name/$name"
  say "$name built and ran, with CMake and with pkg-config"
done
