#!/usr/bin/env bash
# What scripts/includes.py finds in a small tree. usage: includes.sh SCRIPTS
set -u
includes=$1/includes.py
dir=$(mktemp -d "${TMPDIR:-/tmp}/paige-includes.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# put FILE INCLUDE...   makes a source that includes these, in a folder with a README
put() {
	local file=$dir/tree/$1 target
	shift
	mkdir -p "$(dirname "$file")"
	echo '# A folder' >"$(dirname "$file")/README.md"
	for target; do
		printf '#include "%s"\n' "$target"
	done >"$file"
}

# expect CODE TEXT   TEXT, unless empty, must be in what it prints
expect() {
	local got=0
	python3 "$includes" "$dir/tree" >"$dir/said" 2>&1 || got=$?
	if [ "$got" != "$1" ] || { [ -n "$2" ] && ! grep -qF -- "$2" "$dir/said"; }; then
		echo "exit $got instead of $1, or no '$2' in:"
		cat "$dir/said"
		failed=1
	fi
}

# good   a tree without faults
good() {
	rm -rf "$dir/tree"
	put common/base/str.h
	put common/bus/bus.h common/base/str.h
	put workers/store/store.h common/bus/bus.h paige-config.h
	put workers/llm/demo/demo.c common/base/str.h
	put tests/unit/test_store.c workers/store/store.h
	printf '#include <stdio.h>\n' >>"$dir/tree/common/base/str.h"
}

good
expect 0 ''
put common/base/up.c common/bus/bus.h
expect 1 'common/base/up.c:1: common/bus/bus.h: common/bus is above common/base'
good
put workers/llm/main.c workers/store/store.h
expect 1 'workers/llm/main.c:1: workers/store/store.h: it belongs to the program workers/store'
good
put workers/llm/call.h
put workers/llm/demo/demo.c workers/llm/call.h
expect 1 'it belongs to the program workers/llm'
good
put workers/store/db/row.h workers/store/store.h
put workers/store/main.c workers/store/db/row.h
expect 1 'circle of workers/store, workers/store/db:'
good
put workers/store/main.c store.h
expect 1 'workers/store/main.c:1: store.h: there is no such file; name it from the top of the tree'
good
put common/elsewhere/a.c common/base/str.h
expect 1 'one of the two is in no layer'
good
for n in $(seq 25); do
	put "workers/store/many/$n.c"
done
expect 0 ''
put workers/store/many/more.h
expect 1 'workers/store/many: 26 sources, 25 are allowed'
good
rm "$dir/tree/workers/store/README.md"
expect 1 'workers/store: README.md is not there'
good
mv "$dir/tree/tests/unit/README.md" "$dir/tree/tests"
expect 0 ''
rm "$dir/tree/tests/README.md"
expect 1 'tests/unit: README.md is not there'
good
seq 40 >"$dir/tree/common/bus/README.md"
expect 0 ''
echo 41 >>"$dir/tree/common/bus/README.md"
expect 1 'common/bus/README.md: 41 lines, 40 are allowed'
exit "$failed"
