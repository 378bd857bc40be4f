# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the files that source it share these variables
# checks.sh - which releases are looked at, the line of each check, and the count. Sourced by `service`, tests/package and tests/image.

# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

base=${FRESH_DIR:-${TMPDIR:-/tmp}/paige-fresh}
began=$SECONDS
# What is said of one release, and of one unit there; each runs in a shell of its own.
release='' label=''

say() { printf '==> %4d s  %s\n' $((SECONDS - began)) "$*" >&2; }
ok() { printf 'ok    %-8s %-9s %s: %s\n' "$release" "$label" "$1" "${2//$'\n'/ | }" | tee -a "$results"; }
no() { printf 'FAIL  %-8s %-9s %s: %s\n' "$release" "$label" "$1" "${2//$'\n'/ | }" | tee -a "$results"; }
# judge TITLE CODE WHAT-WAS-SEEN: ok when CODE is 0.
judge() { if [ "$2" = 0 ]; then ok "$1" "$3"; else no "$1" "$3"; fi; }
skip() {
	printf 'SKIP  %-8s %s\n' "$release" "$*" | tee -a "$results"
	exit 77
}

# choose_releases ARGUMENT...: sets $releases: those that are named, or both, this machine's own first.
choose_releases() {
	local argument
	releases=()
	for argument; do
		case $argument in
		bookworm | trixie) releases+=("$argument") ;;
		*)
			sed -n '2,/^set /{/^#/!d; s/^# \{0,1\}//; p}' "$0" >&2
			exit 2
			;;
		esac
	done
	if [ ${#releases[@]} = 0 ]; then
		if grep -q '^VERSION_CODENAME=trixie' /etc/os-release; then releases=(trixie bookworm); else releases=(bookworm trixie); fi
	fi
}

# run_apart RELEASE: run_release in a shell and a process group of its own; sets $code. Who ends the test ends that whole group, so also a build
# in its middle, and waits until run_release has cleaned up. $ended says that it came to this.
run_apart() {
	local runner=''
	ended=''
	trap 'ended=1; [ -z "$runner" ] || kill -TERM -- "-$runner" 2>/dev/null || true' INT TERM HUP
	set -m
	(set +m; run_release "$1" || exit $?) </dev/null &
	runner=$!
	set +m
	[ -z "$ended" ] || kill -TERM -- "-$runner" 2>/dev/null || true # it came before there was anybody to tell
	while :; do # a signal ends the waiting, not what is waited for
		code=0
		wait "$runner" || code=$?
		kill -0 "$runner" 2>/dev/null || break
	done
	if [ -n "$ended" ]; then
		for _ in {1..100}; do
			kill -0 -- "-$runner" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$runner" 2>/dev/null || true
	fi
	trap - INT TERM HUP
}

# check_releases: calls run_release of the script for each of $releases. Prints the count, and the reason when something failed or was
# skipped, and ends the script: 0, 1 when anything failed, or else 77 when anything could not be looked at.
check_releases() {
	local each code ended passed failed skipped reason
	if [ "$(id -u)" != 0 ]; then
		printf '0 passed, 0 failed, %d skipped: needs root: it makes a system of its own\n' "${#releases[@]}"
		exit 77
	fi
	mkdir -p "$base"
	results=$(mktemp "$base/checks.XXXXXX")
	for each in "${releases[@]}"; do
		release=$each
		run_apart "$each"
		if [ -n "$ended" ]; then
			no "run" "ended by a signal"
			break
		fi
		case $code in
		0 | 77) ;;
		*) grep -q "^FAIL *$each " "$results" || no "run" "ended unexpectedly with $code" ;;
		esac
	done
	passed=$(grep -c '^ok ' "$results" || true)
	failed=$(grep -c '^FAIL' "$results" || true)
	skipped=$(grep -c '^SKIP' "$results" || true)
	grep -E '^(FAIL|SKIP)' "$results" >&2 || true
	reason=$(grep -m 1 '^FAIL' "$results" || grep -m 1 '^SKIP' "$results" || true)
	reason=$(tr -s ' ' <<<"$reason" | cut -d ' ' -f 2- | cut -c 1-300)
	rm -f "$results"
	say "all of it took $((SECONDS - began)) s"
	printf '%d passed, %d failed, %d skipped%s\n' "$passed" "$failed" "$skipped" "${reason:+: $reason}"
	[ "$failed" = 0 ] || exit 1
	[ "$skipped" = 0 ] || exit 77
	exit 0
}
