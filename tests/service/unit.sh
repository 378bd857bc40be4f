# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the files of this folder share their variables
# unit.sh - the life of one daemon under systemd. Sourced by `service`; each unit is looked at in a shell of its own.

# field EXPRESSION: of the JSON on stdin, as d.
field() { python3 -c 'import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1" 2>/dev/null; }
as() { box setpriv --reuid "$user" --regid "$user" --init-groups env "HOME=$home" "USER=$user" "LOGNAME=$user" "${environment[@]}" "$@"; }
ctl() { if [ "$label" = user ]; then as systemctl --user "$@"; else box systemctl "$@"; fi; }
shown() { ctl show -P "$1" "$unit"; }
active() { [ "$(ctl is-active "$unit" 2>/dev/null)" = active ]; }
journal() { box journalctl --no-pager -q "_$journal_of=$unit" + "${journal_of#SYSTEMD_}=$unit" "$@"; }
status_json() { as paigectl status --json; }
all_ready() { status_json | field 'exit(any(w["state"] != "ready" for w in d["workers"]))'; }
worker_pid() { status_json | field "[w['pid'] for w in d['workers'] if w['name'] == '$1' and w['state'] == 'ready'][0]"; }
healed() { local now; now=$(worker_pid "$1") && [ "$now" != "$2" ]; }
new_main() { local now; now=$(shown MainPID) && [ "$now" != "$1" ] && [ "$now" != 0 ] && active && health; }
# signal NAME PID: never to 0, which would be the group of processes of this script.
signal() { [[ $2 =~ ^[1-9][0-9]+$ ]] && box kill "-$1" "$2" 2>/dev/null; }
# Processes of Paige that its user has.
left() { box ps -e -o user:20=,pid=,comm= | awk -v user="$user" '$1 == user && $3 ~ /^paige/ { printf "%s(%s) ", $3, $2 }' || true; }
health() {
	local answer
	# shellcheck disable=SC2016 # the shell inside has the port
	answer=$(box bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
		printf "GET /health HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n" "$1" >&3
		timeout 5 cat <&3' - "$port" 2>/dev/null) || return 1
	[[ $answer == 'HTTP/1.1 200 '* ]]
}
# systemctl COMMAND...: for the unit; what it says is in $answer.
try() {
	local code=0
	ctl reset-failed "$unit" 2>/dev/null || true
	answer=$(ctl "$@" "$unit" 2>&1) || code=$?
	if [ "$code" = 0 ]; then within 15 active || code=$?; fi
	return "$code"
}
set_conf() { box sed -i "s|^#\?$1=.*|$1=$2|" "$conf"; }
warnings() { journal -o cat | grep 'no file can be saved' || true; }

prepare() {
	case $label in
	system) unit=paiged.service user=paige home=/var/lib/paige data=/var/lib/paige conf=/etc/paige/paige.conf port=3000 project=/srv/project ;;
	instance) unit=paiged@ada.service user=ada home=/home/ada data=/var/lib/paige-ada conf=/etc/paige/ada.conf port=3001 project=/home/ada/project ;;
	user) unit=paiged.service user=grace home=/home/grace data=/home/grace/.paige conf=/home/grace/.config/paige/paige.conf port=3002 project=/home/grace/project ;;
	esac
	environment=("DATA_DIR=$data") journal_of=SYSTEMD_UNIT drop_ins=/etc/systemd/system/$unit.d
	box install -d -o "$user" -g "$user" "$project" "$project/src"
	[ "$label" = user ] || return 0
	environment=("XDG_RUNTIME_DIR=/run/user/$(box id -u "$user")") journal_of=SYSTEMD_USER_UNIT
	box loginctl enable-linger "$user" || true
	within 20 box test -S "${environment[0]#*=}/systemd/private" || no "linger" "no manager for $user after $took"
}

# unmet: what `systemctl status` says was missing.
unmet() { ctl status "$unit" 2>&1 | grep 'AssertPathExists=.*was not met' | tr -s ' '; }
refused() { ! try start && [[ $(unmet) == *"$conf"* ]]; }

# As README tells. Before that: without a configuration, and with one that the daemon must not read.
configure() {
	local code=0 value='' said
	! try enable --now || code=1
	said=${answer##*$'\n'} value=$(unmet)
	# The manager forgets what was missing when it reads its units anew, which `enable` of the unit beside this one makes
	# it do: then another start is refused, and tells.
	[ -n "$value" ] || ! within 20 refused || value=$(unmet)
	[[ $(shown ActiveState) == inactive && $value == *"$conf"* ]] || code=1
	judge "enable --now without a configuration fails" "$code" "$said $value"
	box install -D -m 640 -o root -g "$user" /usr/local/share/doc/paige/paige.conf.example "$conf"
	set_conf PROJECT_DIR "$project"
	set_conf ANTHROPIC_API_KEY dummy
	set_conf PORT "$port"
	if [ "$label" = user ]; then
		box chown -R "$user:" "$home/.config"
	else
		box chmod 600 "$conf"
		code=0
		! try start || code=1
		value=$(journal -o cat -p err | grep -F "$conf" | tail -n 1)
		[ -n "$value" ] || code=1
		judge "a configuration that only root may read" "$code" "${value:-no line of priority err names it}"
		box chmod 640 "$conf"
		ctl stop "$unit" 2>/dev/null || true
	fi
}

check_start() {
	local code=0 value
	try enable --now || code=$?
	judge "active in 15 s" "$code" "$took, $(shown StatusText) ${answer##*$'\n'}"
	[ "$code" = 0 ] || return 1
	value=$(box ps -o user:20= -p "$(shown MainPID)" || true)
	judge "runs as $user" "$([ "$value" = "$user" ]; echo $?)" "$value"
	within 15 health || code=$?
	judge "GET /health" "$code" "200 after $took"
	value=$(as paigectl status 2>&1) || code=$?
	judge "paigectl status as $user" "$code" "$(head -n 1 <<<"$value"), $(grep -c ' ready ' <<<"$value") workers ready"
	value=$(as /opt/say.py "$port" /ws '"fs:save_ack"' '{"type":"file:save","payload":{"path":"src/saved.txt","content":"from the editor\n"},"id":"1","timestamp":1790000000000}' 2>&1) || true
	code=0
	[ "$(box cat "$project/src/saved.txt" 2>/dev/null)" = "from the editor" ] || code=1
	judge "a file of the project is saved" "$code" "$(tail -n 1 <<<"$value" | cut -c 1-160)"
}

check_kills() {
	local found='' code=0 count=0 worker old pid
	pid=$(shown MainPID)
	for worker in $(status_json | field '" ".join(w["name"] for w in d["workers"] if w.get("pid"))' || true); do
		old=$(worker_pid "$worker") || { code=1 found+="$worker is not ready; "; continue; }
		signal KILL "$old" || true
		within 15 healed "$worker" "$old" || { code=1 found+="$worker did not come back in 15 s; "; }
		found+="$worker $took, " count=$((count + 1))
	done
	[ "$count" -ge 6 ] && [ "$(shown MainPID)" = "$pid" ] || code=1
	judge "kill -9 of each worker" "$code" "${found%, }"
	signal KILL "$pid" || true
	code=0
	within 20 new_main "$pid" || code=$?
	judge "kill -9 of the daemon" "$code" "process $pid became $(shown MainPID) after $took"
	pid=$(shown MainPID) code=0
	ctl restart "$unit" || code=$?
	within 15 new_main "$pid" || code=$?
	judge "systemctl restart" "$code" "process $pid became $(shown MainPID) after $took"
}

reloaded() { active && as paigectl config | grep -E '^LOG_LEVEL[ =]' | grep -q debug; }
check_reload() {
	local code=0 pid
	pid=$(shown MainPID)
	set_conf LOG_LEVEL debug
	ctl reload "$unit" || code=$?
	within 10 reloaded || code=$?
	[ "$(shown MainPID)" = "$pid" ] || code=1
	judge "systemctl reload" "$code" "LOG_LEVEL=debug after $took, $(shown ActiveState)"
}

check_watchdog() {
	local code=0 pid value
	pid=$(shown MainPID)
	signal STOP "$pid" || true
	within 40 new_main "$pid" || code=$?
	signal CONT "$pid" || true
	value=$(journal -o cat | grep -i "result 'watchdog'" | tail -n 1 || true)
	[ -n "$value" ] || code=1
	judge "SIGSTOP of the daemon" "$code" "process $pid became $(shown MainPID) after $took, $value"
}

check_journal() {
	local value
	value=$(journal -o json | python3 -c '
import collections, json, re, sys
want = {"error": "3", "warn": "4", "info": "6", "debug": "7"}
seen, wrong, workers = collections.Counter(), 0, set()
for line in sys.stdin:
    entry = json.loads(line)
    text = entry.get("MESSAGE") or ""
    if not isinstance(text, str): text = bytes(text).decode("utf-8", "replace")
    found = re.match(r"ts=\S+ level=(\w+) worker=(\S+)", text)
    if not found: continue
    seen[found[1] + " at " + entry["PRIORITY"]] += 1
    workers.add(found[2])
    wrong += entry["PRIORITY"] != want[found[1]]
print(wrong, len(workers), ", ".join("%d %s" % (n, k) for k, n in sorted(seen.items())))' || true)
	judge "priorities in the journal" "$([[ $value == '0 '* && $value == *'warn at 4'* ]]; echo $?)" "wrong, programs, lines: $value"
	value=$(cut -d ' ' -f 2 <<<"$value")
	judge "lines of all workers in the journal" "$([ "${value:-0}" -ge 7 ]; echo $?)" "of $value programs"
}

check_exposure() {
	local value
	[ "$label" != user ] || return 0
	value=$(box systemd-analyze security --no-pager "$unit" 2>&1 | tail -n 1 || true)
	judge "systemd-analyze security below 2.0" "$([[ $value =~ \ [01]\.[0-9]\  ]]; echo $?)" "${value#→ }"
}

# A project elsewhere is read-only, is told of, and is let in by a drop-in.
check_elsewhere() {
	local code=0 value before
	[ "$label" = system ] || return 0
	box install -d -o "$user" -g "$user" /opt/project
	set_conf PROJECT_DIR /opt/project
	ctl restart "$unit" || code=$?
	value=$(warnings | tail -n 1)
	[[ $value == *ReadWritePaths=/opt/project* ]] || code=1
	judge "a project below /opt is told of" "$code" "$value"
	box sh -c "mkdir -p $drop_ins && printf '[Service]\nReadWritePaths=/opt/project\n' >$drop_ins/project.conf"
	ctl daemon-reload
	code=0 before=$(warnings)
	ctl restart "$unit" || code=$?
	as /opt/say.py "$port" /ws '"fs:save_ack"' '{"type":"file:save","payload":{"path":"saved.txt","content":"x"},"id":"1","timestamp":1790000000000}' >/dev/null 2>&1 || true
	[ "$(box cat /opt/project/saved.txt 2>/dev/null)" = x ] && [ "$(warnings)" = "$before" ] || code=1
	judge "and saved to with ReadWritePaths" "$code" "$(box ls -l /opt/project/saved.txt 2>&1)"
	box rm -r "$drop_ins"
	ctl daemon-reload
	set_conf PROJECT_DIR "$project"
	ctl restart "$unit"
}

# An agent that makes code at run time: refused by the unit, let in by the drop-in.
# ask_agent FOLDER: in a session of its own, so that no earlier answer is taken for this one.
ask_agent() {
	box install -d -o "$user" -g "$user" "$project/$1"
	as /opt/say.py "$port" /agent 'can: code=' "{\"type\":\"connectFolder\",\"path\":\"$1\"}" '{"type":"prompt","text":"what can you do?"}' 2>&1 | grep -o 'can: [a-z0-9 =]*' | tail -n 1
}
check_agent() {
	local value
	[ "$label" = instance ] || return 0
	set_conf AGENT_COMMAND /opt/agent.py
	ctl restart "$unit" || true
	value=$(ask_agent without || true)
	judge "an agent without the drop-in" "$([ "$value" = "can: code=no home=yes owner=no" ]; echo $?)" "$value"
	box install -D -m 644 /usr/local/share/doc/paige/agent.conf "$drop_ins/agent.conf"
	ctl daemon-reload
	ctl restart "$unit" || true
	value=$(ask_agent with || true)
	judge "an agent with the drop-in" "$([ "$value" = "can: code=yes home=yes owner=yes" ]; echo $?)" "$value"
	box rm -r "$drop_ins"
	ctl daemon-reload
	set_conf AGENT_COMMAND ''
	ctl restart "$unit" || true
}

check_stop() {
	local code=0 value found
	within 15 all_ready || true
	value=$(as paigectl stop 2>&1) || code=$?
	sleep 5
	[ "$(shown ActiveState)" = inactive ] || code=1
	judge "paigectl stop stays stopped" "$code" "$(shown ActiveState), result $(shown Result), $value"
	code=0
	try start || code=$?
	[ "$code" != 0 ] || within 15 health || code=$?
	judge "starts again" "$code" "$(shown ActiveState), /health after $took"
	code=0
	ctl stop "$unit" || code=$?
	found=$(left)
	box test ! -e "$data/paiged.json" || found+="$data/paiged.json"
	[ -z "$found" ] && [ "$(shown ActiveState)" = inactive ] && [ "$(shown Result)" = success ] || code=1
	judge "systemctl stop leaves nothing" "$code" "$(shown ActiveState)${found:+, left: $found}"
	code=0
	try start || code=$?
	[ "$code" != 0 ] || within 15 health || code=$?
	judge "stays up for those that come after it" "$code" "/health after $took"
}

check_unit() {
	local unit user home data conf port project environment journal_of drop_ins answer=''
	label=$1
	set +e # each check says what failed
	prepare
	configure
	check_start || return 0
	check_kills
	check_reload
	check_watchdog
	check_journal
	check_exposure
	check_elsewhere
	check_agent
	check_stop
}
