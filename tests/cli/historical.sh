#!/bin/bash
# The command line of the historical profiler: exact names, in any order.
. tests/cli/lib.sh

# PID.hp is written to the current folder.
cp $tiny $v01/tiny/t1.prof $v01/tiny/t1.cmt "$work"
cd "$work"
tiny=heap.dump.29370.0
profile=t1.prof
run -loc -prof $profile -heap $tiny
cp "$work/out" "$work/wanted"
check_equal '-loc -prof F -heap F: exit status' "$status" 0
check '-loc: locations' grep -q 't1.ml:6:25-35' "$work/out"
while read -r order; do
	# shellcheck disable=SC2086 # words
	run $order
	check_same "$order" "$work/out" "$work/wanted"
done <<END
-loc -heap $tiny -prof $profile
-prof $profile -loc -heap $tiny
-prof $profile -heap $tiny -loc
-heap $tiny -loc -prof $profile
-heap $tiny -prof $profile -loc
-v 0 -heap $tiny -prof $profile -loc
-heap $tiny -v 0 -loc -prof $profile
END
run -heap $tiny -prof $profile
check '-heap without -loc: no table of locations' \
	test "$(grep -c 't1.ml:6:25-35' "$work/out")" -lt "$(grep -c 't1.ml:6:25-35' "$work/wanted")"
run -v 1 -heap $tiny -prof $profile -loc
check '-v 1 says what one would type today' \
	grep -q 'heapgraph top --by type,location --prof .*t1.prof' "$work/err"

# The profile is found, and named, as the original found it: below the current folder.
mkdir -p "$work/run/a/b" "$work/run/dumps"
cp $tiny "$work/run/dumps"
cp $profile "$work/run/a/b"
cd "$work/run"
run -loc -heap dumps/heap.dump.29370.0
check 'without -prof: found below the current folder' grep -q 't1.ml:6:25-35' "$work/out"
check 'without -prof: its name is printed' grep -q 'a/b/t1.prof' "$work/out"
# One of another name: only if it has the numbers of this program's blocks.
mv a/b/t1.prof a/b/renamed.prof
run -loc -heap dumps/heap.dump.29370.0
check 'without -prof: renamed, it is found' grep -q 't1.ml:6:25-35' "$work/out"
check 'without -prof: renamed, its name is printed' grep -q 'a/b/renamed.prof' "$work/out"
for other in "$top/$v01"/*/*.prof; do
	[ "$(basename "$other")" != t1.prof ] || continue
	cp "$other" a/b/renamed.prof
	run -loc -heap dumps/heap.dump.29370.0
	check "without -prof: $other is of another program" grep -qE \
		'none: a/b/renamed.prof is of another program: of 247 blocks it lacks the ids of' \
		"$work/out"
	check "without -prof: $other tells no location" bash -c "! grep -q '[.]ml:' '$work/out'"
done
# Copies of dumps of 0.2: the number of the process in their names is gone.
rm a/b/renamed.prof
locations=memprof.28910.locations
cp "$top/$fixtures/v02/objs-byte/memprof.28910.0.dump" copied.dump
cp "$top/$fixtures/v02/objs-byte/$locations" a/b
run info --as memprof02 copied.dump
check 'a copy of a dump of 0.2: nothing from below' grep -q '^  note  *none: no ' "$work/out"
mv a/b/$locations .
run info --as memprof02 copied.dump
check 'a copy of a dump of 0.2: its locations' grep -q "^  source  *$locations" "$work/out"
cp "$top/$fixtures/v02/objs-opt/memprof.28958.locations" $locations
run info --as memprof02 copied.dump
check 'a copy of a dump of 0.2: locations of another program' grep -q \
	"none: $locations is of another program: of 2168 blocks it lacks the ids of 1038" "$work/out"
cd "$top"

mkdir "$work/series"
cp $cache0 $cache2 $cache5 $v01/cache-dump/cache.prof "$work/series"
cp $cache0 "$work/series/heap.dump.8976.0"
cd "$work/series"
run -heaps 8975 -loc
cp "$work/out" "$work/wanted"
check_equal '-heaps PID -loc: exit status' "$status" 0
check '-heaps PID: the three dumps of that process' test "$(grep -c 'heap.dump.8975.[025]' "$work/out")" -eq 3
check '-heaps PID: no other process' test "$(grep -c 'heap.dump.8976' "$work/out")" -eq 0
run -loc -heaps 8975
check_same '-loc -heaps PID' "$work/out" "$work/wanted"
run -prof cache.prof -heaps 8975 -loc
check_same '-prof F -heaps PID -loc' "$work/out" "$work/wanted"
refuses '-heaps of a process without dumps' 3 -heaps 4711
refuses '-heap of a missing file' 3 -heap heap.dump.1.1
refuses 'an unknown option' 2 -loc -heep heap.dump.8975.0
refuses 'a prefix of an option' 2 -loc -hea heap.dump.8975.0
refuses 'an operand' 2 -loc heap.dump.8975.0
refuses 'a number that is none' 2 -heaps many
