#!/usr/bin/env bash
# The last line of a test that uses tests/service/checks.sh counts and says why; who ends it ends what it has begun, and it cleans up.
# usage: checks.sh TESTS
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "needs root: without it the tests that use checks.sh look at nothing"; exit 77; }

tests=$1 work=$(mktemp -d) tested='' build=''
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	[ -z "$tested" ] || kill -KILL "$tested" 2>/dev/null || true
	[ -z "$build" ] || { pkill -KILL -P "$build"; kill -KILL "$build"; } 2>/dev/null || true
	rm -rf "$work"
}
trap clean_up EXIT
fail() { printf '%s\n' "$*" "what it said:" "$(cat "$work/said")"; exit 1; }

# A test that is in the middle of a build when it is ended, or comes to the end named.
cat >"$work/test" <<'END_OF_TEST'
#!/usr/bin/env bash
set -euo pipefail
. "$1/service/checks.sh"
. "$1/fresh/debian.sh"
. "$1/service/container.sh"
choose_releases bookworm trixie
run_release() {
	release=$1
	trap 'echo "cleaned up"' EXIT
	trap 'exit 1' INT TERM HUP
	case $MODE in
	passes) ok one "it is so"; false; ok two "a command that fails ends nothing" ;;
	fails) [ "$release" = trixie ] && no one "it is not so"; ok two "it is so" ;;
	breaks) exit 3 ;;
	skips) skip "cannot be looked at" ;;
	needs) printf '%s\n' "$SAID" >"$FRESH_DIR/log"; must one "$CODE" "$FRESH_DIR/log"; ok one "it came" ;;
	stops) ok one "it is so"; [ "$release" = bookworm ] || skip "no more can be looked at" ;;
	builds) bash -c 'trap "echo build cleaned up" EXIT; trap "exit 1" TERM; echo $$ >"$0"; sleep 600; :' "$FRESH_DIR/build"; ok one "was not ended" ;;
	esac
}
check_releases
END_OF_TEST
export FRESH_DIR=$work

# ends MODE CODE LAST-LINE
ends() {
	local code=0
	MODE=$1 bash "$work/test" "$tests" >"$work/said" 2>&1 || code=$?
	[ "$code" = "$2" ] || fail "$1: it ended with $code, not $2"
	[ "$(tail -n 1 "$work/said")" = "$3" ] || fail "$1: its last line is not: $3"
	[ "$(grep -c '^cleaned up$' "$work/said")" = 2 ] || fail "$1: it did not clean up for each release"
}
ends passes 0 '4 passed, 0 failed, 0 skipped'
ends fails 1 '2 passed, 1 failed, 0 skipped: trixie one: it is not so'
ends breaks 1 '0 passed, 2 failed, 0 skipped: bookworm run: ended unexpectedly with 3'
ends skips 77 '0 passed, 0 failed, 2 skipped: bookworm cannot be looked at'

# needs CODE-OF-THE-COMMAND WHAT-IT-SAID CODE LAST-LINE: a test whose command fetches from the mirror.
needs() { CODE=$1 SAID=$2 ends needs "$3" "$4"; }
needs 0 'W: Failed to fetch http://m/a' 0 '2 passed, 0 failed, 0 skipped'
log="(everything: $work/log)"
needs 100 $'E: Failed to fetch http://m/a  503\nE: Unable to fetch some archives' 77 "0 passed, 0 failed, 2 skipped: bookworm one: E: Failed to fetch http://m/a 503 $log"
needs 100 $'W: Failed to fetch http://m/a\nE: Unable to locate package b' 77 "0 passed, 0 failed, 2 skipped: bookworm one: W: Failed to fetch http://m/a $log"
needs 100 'E: Unable to locate package b' 1 "0 passed, 2 failed, 0 skipped: bookworm one: E: Unable to locate package b $log"
needs 1 $'setup: this distribution does not offer: b\nPaige is built on Debian' 1 "0 passed, 2 failed, 0 skipped: bookworm one: setup: this distribution does not offer: b $log"
needs 124 $'Get:7 http://m/a\nContainer x terminated by signal KILL.' 77 "0 passed, 0 failed, 2 skipped: bookworm one: it took too long: Get:7 http://m/a $log"
needs 137 '==> making a Debian: 99 s, I: downloading packages with apt...' 77 "0 passed, 0 failed, 2 skipped: bookworm one: it took too long: ==> making a Debian: 99 s, I: downloading packages with apt... $log"
needs 124 '[7/99] Compiling' 1 "0 passed, 2 failed, 0 skipped: bookworm one: it took too long: [7/99] Compiling $log"
ends stops 77 '2 passed, 0 failed, 1 skipped: trixie no more can be looked at'

# Only the test itself is told, and by TERM: INT and HUP are ignored in what was begun in the background, or with nohup.
MODE=builds bash "$work/test" "$tests" >"$work/said" 2>&1 &
tested=$!
for _ in {1..600}; do
	[ ! -s "$work/build" ] || break
	kill -0 "$tested" 2>/dev/null || fail "TERM: it ended before its build began"
	sleep 0.1
done
build=$(cat "$work/build") || fail "TERM: no build began in a minute"
kill -TERM "$tested"
code=0
wait "$tested" || code=$?
tested=''
[ "$code" = 1 ] || fail "TERM: it ended with $code, not 1"
! kill -0 "$build" 2>/dev/null || fail "TERM: its build goes on"
build=''
[ "$(tail -n 1 "$work/said")" = '0 passed, 1 failed, 0 skipped: bookworm run: ended by a signal' ] || fail "TERM: its last line does not say that it failed"
grep -q '^build cleaned up$' "$work/said" || fail "TERM: the build did not clean up"
[ "$(grep -c '^cleaned up$' "$work/said")" = 1 ] || fail "TERM: it did not clean up, or went on with the next release"
left=$(find "$work" -name 'checks.*')
[ -z "$left" ] || fail "it left $left"
