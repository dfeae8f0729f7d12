#!/bin/bash
# Programs that are stopped, or frozen, are captured and left so; and only of what has ended is it
# said that it has.
# Waits: it waits for what a stopped program does next.
. tests/cli/lib.sh

record=$work/record
target_pid=
# Ends what was started, also when a check was in the way.
trap '[ -z "$target_pid" ] || kill -KILL "$target_pid" 2>/dev/null; thaw; rm -rf "$work"' EXIT

# number INDEX [VALUE]: a number of the record (tests/targets/watched.h), or sets it.
number() {
	if [ $# -eq 2 ]; then
		word "$2" | dd of="$record" bs=8 seek="$1" conv=notrunc status=none
	else
		od -An -v -t u8 -j $((8 * $1)) -N 8 "$record" | tr -d ' '
	fi
}
ending=0 is_ready=1 first_rounds=3

# eventually COMMAND...: it comes true by itself.
eventually() {
	local i
	for i in $(seq 600); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

is_prepared() {
	[ "$(number $is_ready)" -eq 1 ] && [ "$(number $first_rounds)" -gt 0 ]
}

# start PROGRAM ARGUMENT...: a watched program in a process group of its own, as from a terminal.
start() {
	truncate -s 0 "$record"
	truncate -s 4096 "$record"
	set -m
	"$@" "$record" >"$work/said" 2>&1 </dev/null &
	target_pid=$!
	set +m
	eventually is_prepared || not_ok "$name" "does not get ready: $(gist "$work/said")"
}

# all_are STATES: all threads of the target are in one of these states, and nobody traces them.
all_are() {
	local status
	for status in "/proc/$target_pid/task"/*/status; do
		grep -q "^State:	[$1]" "$status" || return 1
		grep -q '^TracerPid:	0$' "$status" || return 1
	done
}

# No copy of it is left, alive or not.
has_no_child() {
	[ -z "$(cat "/proc/$target_pid/task"/*/children)" ]
}

goes_on() {
	local before
	before=$(number $first_rounds)
	eventually eval "[ \"\$(number $first_rounds)\" -gt $before ]"
}

# left_stopped NAME: as it was before the capture; nothing of it has run.
left_stopped() {
	check "$1: is left stopped" all_are T
	check_equal "$1: has not run meanwhile" "$(number $first_rounds)" "$rounds_before"
	check "$1: no copy is left" has_no_child
}

# ends_well NAME: it goes on, and has noticed nothing.
ends_well() {
	local status=0
	check "$1: goes on" goes_on
	check "$1: is neither stopped nor traced" eventually all_are RSD
	check "$1: no copy is left then" has_no_child
	number $ending 1
	wait "$target_pid" || status=$?
	target_pid=
	check_equal "$1: exit status in the end" "$status" 0
	check_equal "$1: what it says in the end" "$(cat "$work/said")" 'RESULT right'
	# torn, interrupted, masks, alternate stacks
	check_equal "$1: what it noticed" "$(number 19) $(number 20) $(number 21) $(number 22)" \
		'0 0 0 0'
}

# captures NAME ARGUMENT...: a capture succeeds and can be read.
captures() {
	local name=$1
	shift
	rm -f "$work/core"
	run capture -p "$target_pid" -o "$work/core" "$@"
	check_equal "$name: exit status" "$status $(grep -c 'has ended' "$work/err")" '0 0'
	# Of an OCaml program or of another: it is ours, and whole.
	run info --format json "$work/core"
	check "$name: info" grep -qE '"capture_consistency": "[a-z-]+"|written by heapgraph' \
		"$work/out" "$work/err"
}

# tries NAME ARGUMENT...: a capture that need not be possible, which then says why.
tries() {
	local name=$1
	shift
	run capture -p "$target_pid" -o "$work/core" "$@"
	check "$name: does not say that it has ended" test -z "$(grep 'has ended' "$work/err")"
	check "$name: one line" one_line
	check "$name: exit status" test "$status" -eq 0 -o "$status" -eq 3 -o "$status" -eq 5
}

# stopped NAME SIGNAL WHOM: the target is stopped by a signal, captured by each method, and goes on.
stopped() {
	local name=$1
	kill "-$2" -- "$3"
	eventually all_are T || not_ok "$name" 'does not stop'
	rounds_before=$(number $first_rounds)
	captures "$name"
	left_stopped "$name"
	captures "$name, vmread" --method vmread
	left_stopped "$name, vmread"
	tries "$name, fork" --method fork
	left_stopped "$name, fork"
	run capture -p "$target_pid" -o "$work" --every 50ms --count 3
	check_equal "$name, several: exit status" "$status" 0
	left_stopped "$name, several"
	kill -CONT -- "$3"
	ends_well "$name"
}

# both_ways NAME PROGRAM ARGUMENT...
both_ways() {
	local name=$1
	shift
	start "$@"
	stopped "$name, SIGSTOP" STOP "$target_pid"
	# What Ctrl-Z sends to all of the job in the foreground.
	start "$@"
	stopped "$name, SIGTSTP" TSTP "-$target_pid"
}

for mode in nanosleep busy signals; do
	both_ways "C, $mode" "$BUILD/watched" "$mode"
done
if command -v ocamlopt >/dev/null; then
	cp tests/targets/watched_{work,threads}.ml "$work"
	for source in watched_self watched_stubs; do
		cc -O2 -std=c11 -D_GNU_SOURCE -fPIC -pthread -I. -I"$(ocamlopt -where)" \
			-c "tests/targets/$source.c" -o "$work/$source.o"
	done
	(cd "$work" && ocamlopt -I +threads unix.cmxa threads.cmxa watched_work.ml \
		watched_threads.ml watched_stubs.o watched_self.o -o threads) >"$work/log" 2>&1
	both_ways 'OCaml' "$work/threads" threads
else
	skip 'OCaml' 'no ocamlopt'
fi

# A control group that is frozen: a program can be traced in one of version 2, but not of version 1.
group=
freeze() {
	case $group in
	*/freezer/*) echo "$1" >"$group/freezer.state" ;;
	*) if [ "$1" = FROZEN ]; then echo 1; else echo 0; fi >"$group/cgroup.freeze" ;;
	esac
}

thaw() {
	[ -n "$group" ] || return 0
	freeze THAWED
	[ -z "$target_pid" ] || wait "$target_pid" 2>/dev/null || true
	rmdir "$group" 2>/dev/null || true
	group=
}

is_frozen() {
	case $group in
	*/freezer/*) grep -qx FROZEN "$group/freezer.state" ;;
	*) grep -qx 'frozen 1' "$group/cgroup.events" ;;
	esac
}

# frozen NAME FOLDER: in a group of this hierarchy.
frozen() {
	local name=$1
	if ! mkdir "$2/heapgraph-test-$$" 2>/dev/null; then
		skip "$name" "no group can be made in $2"
		return
	fi
	group=$2/heapgraph-test-$$
	start "$BUILD/watched" busy
	if ! echo "$target_pid" >"$group/cgroup.procs" || ! freeze FROZEN; then
		skip "$name" 'this program cannot be frozen'
	else
		eventually is_frozen || not_ok "$name" 'does not freeze'
		rounds_before=$(number $first_rounds)
		tries "$name"
		[ "$status" -eq 0 ] ||
			check "$name: says why it is refused" grep -q frozen "$work/err"
		check_equal "$name: has not run meanwhile" "$(number $first_rounds)" "$rounds_before"
		check "$name: is still frozen" is_frozen
		freeze THAWED
	fi
	ends_well "$name"
	thaw
}

if is_cgroup2=$(stat -f -c %T /sys/fs/cgroup 2>/dev/null) && [ "$is_cgroup2" = cgroup2fs ]; then
	frozen 'frozen, version 2' /sys/fs/cgroup
elif [ -d /sys/fs/cgroup/unified ]; then
	frozen 'frozen, version 2' /sys/fs/cgroup/unified
else
	skip 'frozen, version 2' 'no such control groups'
fi
if [ -e /sys/fs/cgroup/freezer/cgroup.procs ]; then
	frozen 'frozen, version 1' /sys/fs/cgroup/freezer
else
	skip 'frozen, version 1' 'no such control groups'
fi

# What has ended, and that alone, is said to have.
sh -c "'$BUILD/target' exit 0 & echo \$! >'$work/id'; exec sleep 60" &
parent=$!
is_zombie() {
	zombie=$(cat "$work/id" 2>/dev/null) && grep -q '^State:	Z' "/proc/$zombie/status"
}
eventually is_zombie || not_ok 'a zombie' 'does not become one'
refuses 'ended, not waited for' 3 capture -p "$zombie" -o "$work/x"
check 'ended, not waited for: says so' grep -qE 'has ended|no process' "$work/err"
kill "$parent"
wait "$parent" 2>/dev/null || true
