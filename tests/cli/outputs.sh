#!/bin/bash
# Files that are written: whole or not there, with the right mode, and nothing of what is said to
# the user in them, even where standard input, output or error is closed.
. tests/cli/lib.sh

mkdir "$work/files"
out=$work/files/out
address=$("$hg" objects --format csv $tiny | columns address | sed -n 1p)

mode() {
	stat -c %a "$1"
}

# in_files NAME WANTED: what is in the folder of outputs.
in_files() {
	check_equal "$1" "$(cd "$work/files" && find . -mindepth 1 | sort | tr '\n' ' ')" "$2"
}

# Modes: those of files that are there, of new ones by what is in them.
umask 022
run object -o "$out" "$address" $tiny
check_equal 'contents of blocks are for the user only' "$(mode "$out")" 600
rm "$out"
run object --format json -o "$out" "$address" $tiny
check_equal 'as JSON too' "$(mode "$out")" 600
rm "$out"
run object --redact -o "$out" "$address" $tiny
check_equal '--redact: as umask says' "$(mode "$out")" 644
rm "$out"
run top -o "$out" $tiny
check_equal 'names are no contents: as umask says' "$(mode "$out")" 644
for old in 640 600 444 666; do
	chmod $old "$out"
	run object -o "$out" "$address" $tiny
	check_equal "a file that is there keeps its mode: $old" "$status $(mode "$out")" "0 $old"
done
if [ "$(id -u)" -eq 0 ]; then
	chgrp 1 "$out"
	chmod 640 "$out"
	run object -o "$out" "$address" $tiny
	check_equal 'and its group' "$(stat -c '%a %g' "$out")" '640 1'
	chown 1 "$out"
	chmod 666 "$out"
	run object -o "$out" "$address" $tiny
	check_equal 'a file of somebody else does not say who may read' "$(mode "$out")" 600
fi
rm -f "$out"

# Links stay, also those that lead to nothing yet; what they lead to is written.
run top -o "$out" --format csv $tiny
cp "$out" "$work/wanted"
mkdir "$work/files/below"
ln -s below/target "$out.link"
for i in 1 2; do
	run top -o "$out.link" --format csv $tiny
	check_equal "a link: exit status, time $i" "$status" 0
	check "a link stays, time $i" test -L "$out.link"
	check_same "a link: what it leads to, time $i" "$work/files/below/target" "$work/wanted"
done
ln -s loop "$work/files/loop"
refuses 'a link to itself' 5 top -o "$work/files/loop" $tiny
ln -s /dev/null "$work/files/null"
run top -o "$work/files/null" $tiny
check 'a link to a device' test "$status" -eq 0 -a -L "$work/files/null" -a -c /dev/null
ln -s /dev/stdout "$work/files/said"
run top -o "$work/files/said" --format csv $tiny
check_same 'a link to standard output' "$work/out" "$work/wanted"
check 'a link to standard output stays' test -L "$work/files/said"
mkfifo "$work/files/fifo"
cat "$work/files/fifo" >"$work/read" &
run top -o "$work/files/fifo" --format csv $tiny
wait $!
check_same 'a FIFO is written to' "$work/read" "$work/wanted"
check 'a FIFO stays' test -p "$work/files/fifo"
rm -r "$work/files"
mkdir "$work/files"

# Closed standard input, output and error.  --progress makes notes, and so does a snapshot cut short.
head -c 100000 $cache0 >"$work/heap.dump.1.0"
"$hg" top --format csv --partial "$work/heap.dump.1.0" >"$work/wanted" 2>"$work/err" || true
check 'there is a note to be lost' test -s "$work/err"
for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
	status=0
	eval "\"$hg\" top --format csv --partial --progress always -o \"$out\" \
		\"$work/heap.dump.1.0\" >\"$work/out\" 2>\"$work/err\" $closed" || status=$?
	check_equal "$closed: exit status" "$status" 4
	check_same "$closed: no note in the output" "$out" "$work/wanted"
done
# By a link of our own: a program that gets it wrong would replace /dev/stdout.
ln -s /dev/stdout "$work/said.link"
for closed in '1>&-' '0<&- 1>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
	status=0
	eval "\"$hg\" top $tiny 2>\"$work/err\" $closed" || status=$?
	check_equal "$closed: data that cannot be written" "$status" 5
	status=0
	eval "\"$hg\" top -o \"$work/said.link\" $tiny 2>\"$work/err\" $closed" || status=$?
	check_equal "$closed: -o a link to /dev/stdout" "$status" 5
	check "$closed: -o a link to /dev/stdout, which stays" test -L "$work/said.link"
done
status=0
"$hg" capture --every 1h --count 1 -o "$work/files" -- \
	sh -c '[ ! -e /proc/self/fd/1 ] || exit 9' >&- 2>"$work/err" || status=$?
check 'a program that is run has closed what the user closed' test "$status" -ne 9
rm -rf "$work/files"
mkdir "$work/files"

if is_sanitized; then
	skip 'calls that fail' 'preloading does not go with AddressSanitizer'
	exit 0
fi
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o "$work/calls.so" tests/targets/calls.c -ldl

# calls VARIABLE... -- ARGUMENT...: heapgraph with its calls looked at.
calls() {
	local variables=()
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	status=0
	env LD_PRELOAD="$work/calls.so" "${variables[@]}" "$hg" "$@" >"$work/out" 2>"$work/err" \
		</dev/null || status=$?
}

# Killed when all is written but the name: nothing is left, and the old file is.
calls CALLS_KILL=fsync -- top -o "$out" $tiny
check_equal 'killed before the end: exit status' "$status" 137
in_files 'killed before the end: nothing is left' ''
echo old >"$out"
calls CALLS_KILL=fsync -- top -o "$out" $tiny
in_files 'killed before the end: the old file is left' './out '
check_equal 'killed before the end: as it was' "$(cat "$out")" old

# Where files without a name are not to be had.
"$hg" top $tiny >"$work/wanted"
for there in new old; do
	rm -f "$out"
	[ $there = new ] || echo old >"$out"
	calls CALLS_NO_TMPFILE=1 CALLS_LOG="$work/log" -- top -o "$out" $tiny
	check_equal "with a temporary name, $there: exit status" "$status" 0
	check_same "with a temporary name, $there" "$out" "$work/wanted"
	in_files "with a temporary name, $there: that alone" './out '
	check_equal "with a temporary name, $there: mode" "$(mode "$out")" 644
done
calls CALLS_NO_TMPFILE=1 -- top -o "$out" LICENSE
in_files 'with a temporary name, after a failure' './out '

# synced NAME: the log tells of an fsync before the file got its name.
synced() {
	check_equal "$1: synced before it has its name" \
		"$(grep -E '^(fsync|linkat|rename)' "$work/log" | sed 's/ .*//' | head -n 2 | tr '\n' ' ')" \
		"fsync $2 "
	rm -f "$work/log"
}

rm -f "$work/log" "$out"
calls CALLS_LOG="$work/log" -- top -o "$out" $tiny
synced 'a report' linkat

# Captures, also where a process of the same number has left its file.
"$BUILD/target" sleep </dev/zero >"$work/said" 2>&1 &
target_pid=$!
until grep -q READY "$work/said"; do
	sleep 0.05
done
rm -f "$work"/files/*
calls CALLS_LOG="$work/log" -- capture -p $target_pid -o "$out"
check_equal 'a capture: exit status' "$status" 0
synced 'a capture' linkat
for tmpfile in '' CALLS_NO_TMPFILE=1; do
	rm -f "$work"/files/*
	echo old >"$out"
	chmod 640 "$out"
	status=0
	# shellcheck disable=SC2016 # for the inner shell, whose number heapgraph takes over
	env LD_PRELOAD="$work/calls.so" CALLS_LOG="$work/log" ${tmpfile:+"$tmpfile"} sh -c \
		'echo left >"$1.part-$$"; exec "$2" capture -p "$3" -o "$1"' \
		sh "$out" "$hg" $target_pid 2>"$work/err" || status=$?
	check_equal "a left file is no obstacle${tmpfile:+, with a name}: exit status" "$status" 0
	check_equal "a left file is no obstacle${tmpfile:+, with a name}: the core" \
		"$(mode "$out") $(head -c 4 "$out" | tail -c 3)" '640 ELF'
	check_equal "a left file stays${tmpfile:+, with a name}, alone" \
		"$(cat "$work"/files/out.part-*)" left
	rm -f "$work/log"
done
kill $target_pid
wait $target_pid 2>/dev/null || true
