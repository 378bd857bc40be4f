# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the files of this folder share their variables
# container.sh - a system that systemd boots, in a container. Sourced by `service` and by tests/package.
#
# The container has control groups of its own and is not registered, so nothing of this machine's is touched.

main='' leader='' root='' group=paige-service-$$

# Without a filter of nspawn's own: that of Debian 12 refuses Landlock, which no real machine does.
nspawn=(env SYSTEMD_SECCOMP=0 systemd-nspawn --quiet --register=no --keep-unit "--machine=$group" --resolv-conf=off --timezone=off --link-journal=no)

# contained COMMAND...: in control groups of its own. Becomes the command.
contained() {
	local controller
	for controller in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
		[ -f "$controller/cgroup.procs" ] || continue
		{ mkdir -p "$controller/$group" && echo "$BASHPID" >"$controller/$group/cgroup.procs"; } || true
	done 2>/dev/null
	exec "$@"
}

gone() { [[ " $(jobs -pr | tr '\n' ' ')" != *" ${main:-none} "* ]]; }

# Ends what is left of the container: killing the first process of its pid namespace ends the rest.
unboot() {
	local child
	if [ -n "$main" ] && ! gone; then
		for child in $(cat "/proc/$main/task/$main/children" 2>/dev/null || true) "$main"; do kill -KILL "$child" 2>/dev/null || true; done
	fi
	[ -z "$main" ] || wait "$main" 2>/dev/null || true
	main='' leader=''
	for _ in {1..10}; do
		if find /sys/fs/cgroup -depth -type d \( -path "*/$group/*" -o -path "*/$group" \) -print0 2>/dev/null | xargs -0r rmdir 2>/dev/null; then break; fi
		sleep 0.3
	done
	rmdir "/run/systemd/nspawn/propagate/$group" "/run/systemd/nspawn/unix-export/$group" 2>/dev/null || true
	[ -z "$root" ] || rm -f "${root%/*}/.#${root##*/}.lck"
}

# How long a command may take in a system that is not booted, in seconds: a build without a compiler cache on a slow machine; and what mostly
# fetches from the mirror. apt gives a silent mirror up for each file anew, a minute each time.
chroot_limit=2700 fetch_limit=1200

# chroot_run COMMAND...: runs it in the root, which is not booted, with the network of this machine; ends with 124 or 137 after $chroot_limit.
chroot_run() {
	local environment=() variable
	for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
		[ -z "${!variable-}" ] || environment+=("--setenv=$variable=${!variable}")
	done
	(contained timeout --foreground -k 10 "$chroot_limit" "${nspawn[@]}" "${environment[@]}" --setenv=TERM=dumb "${binds[@]}" --as-pid2 --pipe -D "$root" "$@") </dev/null
}

# last_line LOG: of what a command in the root said; nspawn adds lines when it is ended, and where /run is no tmpfs.
last_line() { grep -vE '^(Attempted to remove disk file system|Container .* terminated by signal)' "$1" | tail -n 1; }

# must TITLE CODE LOG: ends the release unless CODE is 0: skipped when the mirror failed or apt was still at it when the time was over, or
# else it is a failure.
must() {
	local reason
	[ "$2" != 0 ] || return 0
	if reason=$(mirror_failed "$3"); then skip "$1: $reason (everything: $3)"; fi
	case $2 in
	124 | 137)
		reason="it took too long: $(last_line "$3")"
		[[ $reason != *': '@(Get|Ign|Err):[0-9]* && $reason != *'I: '@(running apt-get update|downloading packages)* ]] || skip "$1: $reason (everything: $3)"
		;;
	*) reason=$(grep -E '^(package|setup|image): ' "$3" || last_line "$3") ;;
	esac
	no "$1" "$reason (everything: $3)"
	exit 1
}

# join: takes this shell into a control group of the container. From outside of them not every command is answered:
# logind of systemd 257 refuses a caller whose group it cannot see, with "Protocol driver not attached".
join() {
	local controllers path hierarchy
	while IFS=: read -r _ controllers path; do
		case $controllers in
		name=systemd) hierarchy=/sys/fs/cgroup/systemd ;;
		'') if [ -d /sys/fs/cgroup/unified ]; then hierarchy=/sys/fs/cgroup/unified; else hierarchy=/sys/fs/cgroup; fi ;;
		*) continue ;;
		esac
		path=$hierarchy${path%/init.scope}/box
		{ mkdir -p "$path" && echo "$BASHPID" >"$path/cgroup.procs"; } 2>/dev/null || true
	done <"/proc/$leader/cgroup"
}

# box COMMAND...: as root in the booted container.
box() {
	(
		join 2>/dev/null || true # the container may have ended
		exec timeout 120 nsenter -t "$leader" -m -u -i -n -p -C -- /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 "$@"
	) </dev/null
}

# within SECONDS COMMAND...: tries until it succeeds; $took is what it needed.
within() {
	local limit=$1 from=${EPOCHREALTIME/./} code=1 tenths
	shift
	while :; do
		if "$@" >/dev/null 2>&1; then code=0; fi
		tenths=$(((${EPOCHREALTIME/./} - from) / 100000))
		took="$((tenths / 10)).$((tenths % 10)) s"
		[ "$code" != 0 ] || return 0
		[ "$((tenths / 10))" -lt "$limit" ] || return 1
		sleep 0.2
	done
}

booted() { local state; state=$(box systemctl is-system-running 2>/dev/null) || [ "$state" = degraded ]; }

# boot LOG: boots the root; skips the release where that cannot be done.
boot() {
	(contained "${nspawn[@]}" --boot --private-network -D "$root") >"$1" 2>&1 </dev/null &
	main=$!
	for _ in {1..100}; do
		leader=$(cut -d ' ' -f 1 "/proc/$main/task/$main/children" 2>/dev/null || true)
		[ -z "$leader" ] || ! grep -qsE '^NSpid:.*[[:space:]]1$' "/proc/$leader/status" || break
		! gone || skip "systemd-nspawn: $(tail -n 1 "$1")"
		sleep 0.1
	done
	[ -n "$leader" ] || skip "systemd-nspawn starts no process: $(tail -n 1 "$1")"
	within 60 booted || skip "systemd is not up in 60 s: $(tail -n 1 "$1")"
}

power_off() {
	box systemctl poweroff >/dev/null 2>&1 || true
	within 60 gone
}

# What a machine with systemd has beyond the minimal system; and ccache, since each run builds anew.
extra='systemd systemd-sysv dbus dbus-user-session libpam-systemd procps ccache python3'

# make_system: sees to $base/RELEASE-service.tar, in which Paige can be built and systemd boots.
make_system() {
	local tar=$base/$release-service.tar key code=0
	key=$(cat "$top/scripts/packages" "$top/scripts/setup" - <<<"$extra" | sha256sum | cut -c 1-16)
	find "$tar" -mtime +7 -delete 2>/dev/null || true
	[ ! -s "$tar" ] || [ "$(cat "$tar.key" 2>/dev/null)" != "$key" ] || return 0
	make_minimal "$release"
	say "$release: installing systemd and what Paige is built with"
	root=$(mktemp -d "$base/service-$release.XXXXXX")
	unpack_minimal "$release" "$root"
	mkdir "$root/paige"
	cp -r "$top/scripts" "$root/paige/scripts"
	chroot_limit=$fetch_limit chroot_run sh -c "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $extra && /paige/scripts/setup &&
		apt-get clean && rm -rf /var/lib/apt/lists/*" >"$base/$release-service.log" 2>&1 || code=$?
	must "a system to build in" "$code" "$base/$release-service.log"
	rm -rf "$root/paige" "$root/usr/sbin/policy-rc.d" "$root/etc/machine-id" "$root/var/lib/dbus/machine-id"
	tar -C "$root" --numeric-owner -cf "$tar.new" .
	mv "$tar.new" "$tar"
	echo "$key" >"$tar.key"
	unboot
	rm -rf --one-file-system "$root"
	root=''
}
