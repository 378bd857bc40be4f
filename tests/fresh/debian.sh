# shellcheck shell=bash
# shellcheck disable=SC2154 # the caller says what $base is
# debian.sh - minimal systems of Debian, for tests that need a machine of their own. Sourced by bash scripts, after scripts/common.sh.
#
# The mirror, the proxy and the certificates are those of this machine. What can be used again is kept in $base:
# RELEASE.tar, for a week. The caller says what `say` and `skip` do; `skip` ends it, for nothing was learned of Paige.

# Proxy and checks of dates, as this machine has them, and how patient apt is; nothing else of its configuration.
apt_options=$(machine_apt_options)

# mirror_failed LOG: prints the line by which apt, or a script that uses it, says that the mirror failed; false without such a line.
mirror_failed() {
	grep -m 1 -E '^(E|W|setup|image): .*(Failed to fetch|Unable to fetch|index files failed to download|Failed getting release file|could not read its lists|knows no source of Debian)' "$1"
}

# find_mirror: sets $mirror and $security.
find_mirror() {
	local targets
	# shellcheck disable=SC2016 # apt fills in the fields
	targets=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Component: main' 2>/dev/null || true)
	mirror=$(awk '$1 == "Debian" { print $2; exit }' <<<"$targets")
	security=$(awk '$1 == "Debian-Security" { print $2; exit }' <<<"$targets")
	if [ -z "$mirror" ]; then # no lists were read yet: the first source that calls itself debian
		# shellcheck disable=SC2016
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1 || true)
	fi
	[ -n "$mirror" ] || skip "apt of this machine names no Debian mirror; try apt-get update"
}

# get_tool COMMAND PACKAGE: installs it on this machine when it is missing.
get_tool() {
	command -v "$1" >/dev/null && return
	say "installing $2"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${apt_patience[@]/#/-o}" -o DPkg::Lock::Timeout=300 --no-install-recommends "$2" >"$base/$2.log" 2>&1 ||
		skip "$2 cannot be installed: $(mirror_failed "$base/$2.log" || tail -n 1 "$base/$2.log")"
}

# bootstrap RELEASE: makes $base/RELEASE.tar, and leaves nothing else when it is ended. In a shell of its own, which has traps of its own.
# shellcheck disable=SC2317 # the trap calls it
bootstrap() (
	release=$1 tree=''
	trap '[ -z "$tree" ] || rm -rf --one-file-system "$tree" "$base/$release.tar.new"' EXIT
	trap 'exit 1' INT TERM HUP
	tree=$(mktemp -d "$base/base-$release.XXXXXX") || exit
	proxy=$(sed -nE 's/^Acquire::http::Proxy "(.+)";$/\1/Ip' <<<"$apt_options" | head -n 1)
	http_proxy=${http_proxy:-$proxy} apart "$bootstrap_limit" debootstrap --variant=minbase "$release" "$tree" "$mirror" >"$base/$release-debootstrap.log" 2>&1 || exit
	rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/* "$tree/debootstrap"
	tar -C "$tree" --numeric-owner -cf "$base/$release.tar.new" . && mv "$base/$release.tar.new" "$base/$release.tar"
)

# How long debootstrap may take, in seconds. wget, which it uses, waits for a silent mirror 15 minutes, and asks 20 times.
bootstrap_limit=900

# make_minimal RELEASE: sees to $base/RELEASE.tar.
make_minimal() {
	local release=$1 code=0
	find "$base/$release.tar" -mtime +7 -delete 2>/dev/null || true
	[ ! -s "$base/$release.tar" ] || return 0
	get_tool debootstrap debootstrap
	find_mirror
	say "making a minimal $release from the mirror of this machine"
	bootstrap "$release" || code=$?
	[ "$code" != 137 ] || skip "debootstrap was not done in $bootstrap_limit s: $(tail -n 1 "$base/$release-debootstrap.log")"
	[ "$code" = 0 ] || skip "debootstrap: $(tail -n 1 "$base/$release-debootstrap.log")"
}

# unpack_minimal RELEASE ROOT: the minimal system in a new directory, with a network as this machine's.
unpack_minimal() {
	local release=$1 root=$2
	[ -n "${mirror-}" ] || find_mirror
	tar -C "$root" --numeric-owner -xpf "$base/$release.tar"
	chmod 755 "$root" # or apt's own user cannot get in
	rm -f "$root/etc/apt/sources.list" "$root/etc/resolv.conf"
	mkdir -p "$root/etc/apt/sources.list.d" "$root/usr/local/share/ca-certificates"
	{
		printf 'Types: deb\nURIs: %s\nSuites: %s %s-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
			"$mirror" "$release" "$release"
		[ -z "$security" ] ||
			printf '\nTypes: deb\nURIs: %s\nSuites: %s-security\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
				"$security" "$release"
	} >"$root/etc/apt/sources.list.d/debian.sources"
	printf '%s\n' "$apt_options" >"$root/etc/apt/apt.conf.d/99this-machine"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	cp /etc/hosts "$root/etc/hosts"
	# The certificates take effect when ca-certificates is installed, not before.
	find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$root/usr/local/share/ca-certificates/" \; 2>/dev/null || true
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no service starts while packages are installed
	chmod 755 "$root/usr/sbin/policy-rc.d"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" # it is thrown away anyway
}
