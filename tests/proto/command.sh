#!/bin/sh
# What paige-proto says and how it exits. usage: command.sh PATH-OF-PAIGE-PROTO
set -u
program=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/paige-proto.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# expect CODE TEXT ARGUMENT...   TEXT, unless empty, must be in what it prints
expect() {
	code=$1 text=$2
	shift 2
	"$program" "$@" >"$dir/out" 2>&1
	got=$?
	if [ "$got" -ne "$code" ]; then
		echo "paige-proto $*: exit $got instead of $code"
		failed=1
	fi
	if [ -n "$text" ] && ! grep -qF -- "$text" "$dir/out"; then
		echo "paige-proto $*: no '$text' in its output:"
		head -5 "$dir/out"
		failed=1
	fi
}

expect 0 'usage: paige-proto' --help
# The man page indents it by 7 columns.
if grep -nE '^.{74}' "$dir/out"; then
	echo "the help is wider than 73 columns"
	failed=1
fi
expect 2 'what shall be printed?'
expect 2 'there is no command dance' dance
expect 2 'unrecognized option' --dance
expect 2 'there is no page called nope' markdown nope
expect 2 'type called file:opne' schema file:opne
expect 2 'too many arguments: b' schema a b
expect 2 'which directory?' write
expect 2 'dts takes no argument' dts x
expect 0 '"required"' schema file:open
expect 0 '"additionalProperties": false' schema paige_get_buffer
expect 0 'export type ServerMessage' dts
expect 0 '"session.start"' schema
expect 0 '# Workers' markdown workers
expect 0 '# The action log' markdown
expect 1 'No such file or directory' check "$dir/nowhere"
mkdir "$dir/docs"
expect 1 'paige.d.ts cannot be read' check "$dir/docs"
expect 0 '' write "$dir/docs"
expect 0 '' check "$dir/docs"
echo >>"$dir/docs/bus.md"
expect 1 'bus.md is out of date' check "$dir/docs"
[ "$(grep -c 'out of date' "$dir/out")" = 1 ] || failed=1
if [ -w /dev/full ]; then
	"$program" dts >/dev/full 2>"$dir/out"
	[ $? -eq 1 ] || { echo "a full disk is not reported"; failed=1; }
fi
exit $failed
