#!/bin/bash
# Captures of running programs: the file is whole and ours, and the program does not notice.
# Waits: what it captures has to go on in time.
. tests/cli/lib.sh

target=$BUILD/target
mkdir "$work/files"

# start MODE...: a target whose standard input is open until finish; its id is $target_pid.
start() {
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/said" # what an earlier one said is not this one's READY
	"$target" "$@" <"$work/in" >"$work/said" 2>&1 &
	target_pid=$!
	exec 3>"$work/in"
	until grep -q READY "$work/said"; do
		kill -0 "$target_pid" || return 1
		sleep 0.05
	done
}

# finish: ends its input and waits for it; what it said is in $work/said, its status in $target_status.
finish() {
	exec 3>&-
	target_status=0
	wait "$target_pid" || target_status=$?
}

# running: the target is neither stopped nor traced, and has no child.
running() {
	local state
	state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$target_pid/status")
	[ "$state" = R ] || [ "$state" = S ] || return 1
	grep -q '^TracerPid:	0$' "/proc/$target_pid/status" || return 1
	[ -z "$(cat "/proc/$target_pid/task/$target_pid/children" 2>/dev/null)" ]
}

# runs_on: it is so soon, on a busy machine too.
runs_on() {
	for _ in $(seq 200); do
		! running || return 0
		sleep 0.05
	done
	running
}

# undisturbed NAME WANTED: the target runs, and says in the end what it says without captures.
undisturbed() {
	check "$1: it runs on, without a child" runs_on
	finish
	check_equal "$1: what it says in the end" "$(tail -n +2 "$work/said")" "$2"
	check_equal "$1: its exit status" "$target_status" 0
}

# is_ours NAME FILE: info says so, whether the program has an OCaml heap or not.
is_ours() {
	run info --format json "$2"
	check "$1" grep -qE '"capture_consistency": "[a-z-]+"|written by heapgraph' "$work/out"
}

# captures NAME ARGUMENT...: capture succeeds, with its line on stderr and nothing on stdout.
captures() {
	local name=$1
	shift
	run capture "$@"
	if [ "$status" -ne 0 ] || [ -s "$work/out" ] || ! one_line; then
		not_ok "$name" "exit $status: $(gist "$work/err")"
	elif ! grep -qE ': pause [0-9.]+ ms, [0-9.]+ .?B written, consistency [a-z-]+, method [a-z]+' \
		"$work/err"; then
		not_ok "$name" "$(gist "$work/err")"
	else
		ok "$name"
	fi
}

# Every method on every kind of disturbance.
for method in fork vmread; do
	for mode in 'busy 3' sleep signals 'memory 64'; do
		name="$method, $mode"
		# shellcheck disable=SC2086 # words
		start $mode
		for i in 1 2 3; do
			captures "$name: capture $i" -p "$target_pid" --method $method \
				-o "$work/core"
		done
		check "$name: says the method" grep -q "method $method" "$work/err"
		is_ours "$name: info" "$work/core"
		case $mode in
		busy*) wanted='0 wrong sums' ;;
		sleep) wanted=slept ;;
		signals) wanted='0 signals lost, 0 others, SIGTRAP ignored' ;;
		memory*) wanted='0 words changed' ;;
		esac
		undisturbed "$name" "$wanted"
	done
done

# Of copies that killed captures have left, however many, none stays.
start zombies 100
captures 'zombies' -p "$target_pid" --method fork -o "$work/core"
undisturbed 'zombies' '0 zombies'

# Names and numbers.
start busy 1
captures 'into a folder' -p "$target_pid" -o "$work/files"
captures 'once more' -p "$target_pid" -o "$work/files"
mv "$work/files/heap.dump.$target_pid.1" "$work/files/heap.dump.$target_pid.7.zst"
captures 'the next free number' -p "$target_pid" -o "$work/files"
check_equal 'names' "$(cd "$work/files" && echo ./*)" \
	"./heap.dump.$target_pid.0 ./heap.dump.$target_pid.7.zst ./heap.dump.$target_pid.8"
(cd "$work/files" && "$hg" capture -p "$target_pid" 2>"$work/err")
check 'the current folder' test -f "$work/files/heap.dump.$target_pid.9"
rm "$work"/files/*
run capture -p "$target_pid" -o "$work/files" --every 50ms --count 3
check_equal 'every: 3 files' "$(find "$work/files" -type f | wc -l)" 3
check_equal 'every: a line for each' "$(wc -l <"$work/err")" 3
rm "$work"/files/*

# Copies of the executable: readable when it is gone, by gdb too.
cp "$target" "$work/gone"
target=$work/gone
finish
start busy 2
rm "$work/gone"
captures 'of a deleted program' -p "$target_pid" -o "$work/core"
target=$BUILD/target
undisturbed 'of a deleted program' '0 wrong sums'
is_ours 'of a deleted program: info' "$work/core"
run info --format json "$work/core"
check 'of a deleted program: its name' grep -q gone "$work/out"
if command -v gdb >/dev/null; then
	gdb -batch -ex 'thread apply all bt' "$target" "$work/core" >"$work/gdb" 2>&1 </dev/null
	check 'gdb: main waits in read' grep -qE '^#[0-9].* main \(' "$work/gdb"
	check_equal 'gdb: two threads work' "$(grep -cE '^#[0-9].* work \(' "$work/gdb")" 2
else
	skip 'gdb opens it' 'no gdb'
fi

# Reasons not to, none of which may leave a file.
missing() {
	[ -z "$(ls -A "$work/files")" ]
}
sleep 1000 &
other=$!
refuses 'no OCaml program' 3 capture -p $other -o "$work/files/x"
check 'no OCaml program: says so' grep -q 'no OCaml program' "$work/err"
kill $other
wait $other || true
refuses 'no such process' 3 capture -p 999999999 -o "$work/files/x"
refuses 'a process that has ended' 3 capture -p $other -o "$work/files/x"
start traced
traced=$(head -n 1 "$work/said")
refuses 'traced by another' 3 capture -p "$traced" -o "$work/files/x"
check 'traced by another: says by whom' grep -q "traced by process $target_pid" "$work/err"
finish
start busy 1
refuses 'no such folder' 5 capture -p "$target_pid" -o "$work/nowhere/x"
refuses 'a device' 5 capture -p "$target_pid" -o /dev/null
refuses 'neither process nor program' 2 capture
refuses 'both' 2 capture -p "$target_pid" --every 1s -- true
refuses 'a program without a reason' 2 capture -- true
refuses 'a count without a reason' 2 capture -p "$target_pid" --count 2
refuses 'many into one file' 2 capture -p "$target_pid" --every 1s -o "$work/files/x"
refuses 'a bad time' 2 capture -p "$target_pid" --every 3x
status=0
(ulimit -f 100 && exec "$hg" capture -p "$target_pid" -o "$work/files/x") 2>"$work/err" || status=$?
check_equal 'a limit on the size of files: exit status' $status 5
check 'a limit on the size of files: one line' one_line
check 'no file was left' missing
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	cp "$hg" "$work/hg"
	status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$work/hg" capture -p "$target_pid" \
		-o /tmp 2>"$work/err" || status=$?
	check_equal 'another user: exit status' $status 3
	check 'another user: says what to do' grep -q 'same user or root' "$work/err"
else
	skip 'another user' 'needs root and setpriv'
fi
mkdir "$work/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs "$work/small" 2>/dev/null; then
	refuses 'a full disk' 5 capture -p "$target_pid" -o "$work/small/x"
	check_equal 'a full disk: nothing left' "$(ls -A "$work/small")" ''
	umount "$work/small"
else
	skip 'a full disk' 'no tmpfs can be mounted here'
fi
undisturbed 'after all that' '0 wrong sums'

# interrupted SIGNAL SECONDS WHOM: sends a signal to capture, or to the target, after so long.
interrupted() {
	local pid
	status=0
	"$hg" capture -p "$target_pid" -o "$work/files/x" 2>"$work/err" &
	pid=$!
	sleep "$2"
	kill "-$1" "$([ "$3" = target ] && echo "$target_pid" || echo $pid)" 2>/dev/null || true
	wait $pid || status=$?
}
whole_or_missing() {
	if [ "$status" -eq 0 ]; then
		[ -f "$work/files/x" ]
	else
		missing
	fi
}
start memory 300
for signal in INT TERM; do
	for after in 0.02 0.05 0.1 0.2; do
		interrupted $signal $after capture
		check "SIG$signal after $after s: whole or not at all" whole_or_missing
		check "SIG$signal after $after s: it runs on" runs_on
		rm -f "$work/files/x"
	done
done
undisturbed 'captures that were ended' '0 words changed'
for after in 0.01 0.05 0.1 0.2; do
	start memory 100
	interrupted KILL $after target
	finish
	check "killed after $after s: whole or not at all" whole_or_missing
	check "killed after $after s: exit status" test "$status" -eq 0 -o "$status" -eq 3
	rm -f "$work/files/x"
done

# Memory that the fork lacks is told of; the other method has it.
start unforkable
captures 'not inherited' -p "$target_pid" -o "$work/core"
check 'not inherited: says so' grep -q '1.0 MB of memory could not be read' "$work/err"
captures 'not inherited, vmread' -p "$target_pid" -o "$work/core" --method vmread
check 'not inherited, vmread: is there' test -z "$(grep 'could not' "$work/err")"
undisturbed 'not inherited' 'done'

# Pages that the kernel guards are no memory that is lacking; next to them, what is lacking is told of.
for method in fork vmread; do
	for gone in 0 2; do
		name="guarded pages, $gone gone, $method"
		start guards $gone
		if grep -q 'NO GUARDS' "$work/said"; then
			skip "$name" 'Linux before 6.15'
			finish
			continue
		fi
		captures "$name" -p "$target_pid" --method $method -o "$work/core"
		case $gone in
		0) check "$name: says nothing" test -z "$(grep 'could not' "$work/err")" ;;
		*) check "$name: says how much" grep -q '; 8.0 KB of memory could not be read' "$work/err" ;;
		esac
		undisturbed "$name" 'done'
	done
done

# Growth: at once, and again when it has grown.
start memory 32
"$hg" capture -p "$target_pid" -o "$work/files" --when-grown 20% --count 2 2>"$work/err" &
pid=$!
for _ in $(seq 600); do
	[ ! -f "$work/files/heap.dump.$target_pid.0" ] || break
	sleep 0.05
done
sleep 0.3
check 'growth: waits' test ! -e "$work/files/heap.dump.$target_pid.1"
echo >&3
check 'growth: ends' wait $pid
check 'growth: second' test -f "$work/files/heap.dump.$target_pid.1"
rm "$work"/files/*
undisturbed 'growth' '0 words changed'

# A program that is started.
run capture --every 100ms -o "$work/files" -- "$target" exit 7 "$work/files" 1
check_equal 'started: its exit status' "$status" 7
check 'started: files' test "$(find "$work/files" -name 'heap.dump.*' | wc -l)" -ge 2
run capture --every 100ms --count 1 -o "$work/files" -- "$target" die 10 "$work/files" 0
check_equal 'started: its signal' "$status" 138
run capture --every 100ms --count 1 -o "$work/files" -- \
	sh -c "sleep 0.2; exec '$target' exit 5 '$work/files' 0"
check_equal 'started by a script: its exit status' "$status" 5
refuses 'started: no OCaml program' 3 capture --every 1s -- true
refuses 'started: no program' 3 capture --every 1s -- "$work/nowhere"
rm -f "$work"/files/*

# busy_soon: the target is past its start, as it has used 50 ms of processor time.
busy_soon() {
	until [ "$(sed 's/.*) //' "/proc/$target_pid/stat" | cut -d ' ' -f 12)" -ge 5 ]; do
		kill -0 "$target_pid" || return 1
		sleep 0.05
	done
}

# Of an OCaml that is not known: that is said before all else, and the file is written.
start later
run capture -p "$target_pid" -o "$work/core"
check_equal 'a later OCaml: exit status' "$status" 0
check_equal 'a later OCaml: what is said first' "$(head -n 1 "$work/err")" \
	"heapgraph: what is captured of process $target_pid cannot be read: it is of OCaml 5.6.0; \
this heapgraph reads 4.13, 4.14 and 5.0 to 5.5: a newer heapgraph may read it"
check 'a later OCaml: the file is written' grep -qa '^ocaml=5\.6\.0$' "$work/core"
undisturbed 'a later OCaml' ''

# Programs of OCaml: their heap is busy when they are stopped.
if command -v ocamlopt >/dev/null; then
	cp tests/targets/churn.ml "$work"
	(cd "$work" && ocamlopt -o churn churn.ml >/dev/null 2>&1)
	# A loop that takes some seconds, whatever the machine.
	"$work/churn" 20 >"$work/alone"
	"$work/churn" 1000000 >"$work/said" &
	target_pid=$!
	busy_soon
	for method in fork vmread; do
		for i in 1 2 3 4 5; do
			captures "OCaml, $method: capture $i" -p $target_pid --method $method \
				-o "$work/core"
		done
		is_ours "OCaml, $method: info" "$work/core"
	done
	check 'OCaml: the version is in the file' grep -qa '^ocaml=[45]\.' "$work/core"
	check 'OCaml: it runs on' runs_on
	kill $target_pid
	wait $target_pid 2>/dev/null || true
	run capture --on-major-gc --count 2 -o "$work/files" -- "$work/churn" 20
	check_equal 'OCaml, after major collections: exit status' "$status" 0
	check_same 'OCaml: the result is what it is without captures' "$work/out" "$work/alone"
	check_equal 'OCaml, after major collections: files' \
		"$(find "$work/files" -name 'heap.dump.*' | wc -l)" 2
	check 'OCaml, after major collections: the file says so' \
		grep -qa '^trigger=major-gc' "$work"/files/*.0
	rm -f "$work"/files/*
	(cd "$work" && ocamlc -o churn.byte churn.ml >/dev/null 2>&1)
	"$work/churn.byte" 1000000 >/dev/null &
	target_pid=$!
	busy_soon
	run capture -p $target_pid -o "$work/files/x"
	check_equal 'bytecode: is captured' "$status" 0
	kill $target_pid
	wait $target_pid 2>/dev/null || true
else
	skip 'programs of OCaml' 'no ocamlopt'
fi
