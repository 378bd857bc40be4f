#!/usr/bin/env bash
# What scripts/format says of files that it would write differently. usage: format.sh SCRIPTS
set -u
format=$1/format
dir=$(mktemp -d "${TMPDIR:-/tmp}/paige-format.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# expect CODE ARGUMENT...   of scripts/format
expect() {
	local code=$1 got=0
	shift
	"$format" "$@" >"$dir/said" 2>&1 || got=$?
	if [ "$got" = 77 ]; then
		cat "$dir/said"
		exit 77
	fi
	if [ "$got" != "$code" ]; then
		echo "scripts/format $*: exit $got instead of $code"
		cat "$dir/said"
		failed=1
	fi
}

mkdir -p "$dir/sources/deep" "$dir/sources/node_modules" "$dir/sources/build-x"
expect 0 --check "$dir/sources"
printf 'int main(void)\n{\n\treturn 0;\n}\n' >"$dir/good"
printf 'int main(void) { return 0; }\n' >"$dir/bad"
cp "$dir/good" "$dir/sources/good.c"
cp "$dir/bad" "$dir/sources/node_modules/not_ours.c"
cp "$dir/bad" "$dir/sources/build-x/made.c"
expect 0 --check "$dir/sources"
cp "$dir/bad" "$dir/sources/deep/bad.h"
expect 1 --check "$dir/sources"
grep -q 'deep/bad\.h' "$dir/said" || {
	echo "the file is not named"
	failed=1
}
cmp -s "$dir/bad" "$dir/sources/deep/bad.h" || {
	echo "--check changed a file"
	failed=1
}
expect 0 "$dir/sources"
cmp "$dir/good" "$dir/sources/deep/bad.h" || failed=1
cmp "$dir/bad" "$dir/sources/node_modules/not_ours.c" || failed=1
expect 1 --nonsense
exit "$failed"
