#!/bin/bash
# Files that are cut or written to while they are read: exit 3 with the name of the file, whatever
# the file is for and whichever thread reads it, and nothing half written.
. tests/cli/lib.sh

if is_sanitized; then
	skip 'files cut while they are read' 'preloading does not go with AddressSanitizer'
	exit 0
fi
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o "$work/calls.so" tests/targets/calls.c -ldl
core=$work/tiny.core
exe=$work/tiny.exe
unpack() {
	zstd -dqf $fixtures/cores/tiny-4.13.1.core.zst -o "$core"
	cp $cache0 "$work/heap.dump.8975.0"
	zstd -dqf $cache5 -o "$work/heap.dump.8975.5"
	cp $cache5 "$work/packed.dump.zst"
	zstd -dqf $fixtures/cores/tiny-4.13.1.prof.zst -o "$work/exe.prof"
	cp $v01/cache-dump/cache.prof "$work/cache.prof"
}
unpack

# cut_while NAME FILE SIZE ARGUMENT...: the file is cut to this size once it is mapped.
cut_while() {
	local name=$1 file=$2 size=$3
	shift 3
	unpack
	status=0
	env LD_PRELOAD="$work/calls.so" CALLS_CUT="$file" CALLS_SIZE="$size" ${at:+CALLS_CUT_AT=$at} \
		timeout 120 "$hg" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	if [ "$status" -ne 3 ]; then
		not_ok "$name" "exit $status: $(gist "$work/err")"
	elif ! one_line; then
		not_ok "$name" "not one line on stderr: $(gist "$work/err")"
	elif ! grep -qF "$file: was cut short while it was read" "$work/err"; then
		not_ok "$name" "$(gist "$work/err")"
	else
		ok "$name"
	fi
}

# Where the bytes are gone, and where they are zeros: at the end of the last page.
at=
size=$(wc -c <"$work/heap.dump.8975.0")
for left in 0 4096 50000 $((size - 1)); do
	cut_while "a dump, $left bytes left" "$work/heap.dump.8975.0" $left \
		summary "$work/heap.dump.8975.0"
done
for left in 4096 8192 1000000 4000000; do
	cut_while "a core, $left bytes left" "$core" $left summary "$core"
done
cut_while 'a compressed dump' "$work/packed.dump.zst" 100 summary "$work/packed.dump.zst"
cut_while 'a source of locations' "$work/cache.prof" 0 \
	top --prof "$work/cache.prof" "$work/heap.dump.8975.0"
cut_while 'a profile of types' "$work/exe.prof" 8192 top "$core"
cut_while 'of two snapshots the second' "$work/heap.dump.8975.5" 8192 \
	diff "$work/heap.dump.8975.0" "$work/heap.dump.8975.5"
echo old >"$work/report"
cut_while 'an output is on its way' "$core" 8192 objects -o "$work/report" "$core"
check_equal 'an output is on its way: the old one is left' "$(cat "$work/report")" old
check_equal 'an output is on its way: nothing else' "$(find "$work" -name 'report?*' | wc -l)" 0
at=thread
for threads in 2 4; do
	cut_while "read by $threads threads" "$work/heap.dump.8975.5" 4096 \
		summary --threads $threads "$work/heap.dump.8975.5"
done
at=

# Executables and libraries, of a core that has no copies of them.
if has_cores; then
	zstd -dqf "$cores/413-cache/core.zst" -o "$work/core"
	zstd -dqf "$cores/413-cache/cache.zst" -o "$exe"
	mkdir "$work/lib"
	for library in "$cores"/lib/*.zst; do
		zstd -dqf "$library" -o "$work/lib/$(basename "$library" .zst)"
	done
	check_run 'a core with its executable and libraries' 0 summary --exe "$exe" \
		--libraries "$work/lib" "$work/core"
	cut_while 'an executable' "$exe" 4096 summary --exe "$exe" \
		--libraries "$work/lib" "$work/core"
	zstd -dqf "$cores/413-cache/cache.zst" -o "$exe"
	cut_while 'a library' "$work/lib/libc.so.6" 4096 summary --exe "$exe" \
		--libraries "$work/lib" "$work/core"
else
	skip 'executables and libraries' 'there are no cores'
fi

# Whoever sends the signal himself gets what he wants.
mkfifo "$work/fifo"
"$hg" top -o "$work/fifo" $tiny 2>"$work/err" &
pid=$!
until grep -q 'heapgraph' "/proc/$pid/comm" && grep -q '^SigCgt.*4[0-9a-f]$' "/proc/$pid/status"; do
	sleep 0.02
done
kill -BUS $pid
status=0
wait $pid || status=$?
check_equal 'a signal that somebody sent' "$status" 135
