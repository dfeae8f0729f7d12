#!/bin/bash
# 'objects' agrees row by row with build/oracle, a slow and simple analyser that shares no code with
# heapgraph: on every fixture, with roots that pass after the others and all alike, and on made-up
# heaps of every shape.
. tests/cli/lib.sh

# agrees NAME DUMP [heapgraph's argument...]
agrees() {
	local name=$1 dump=$2 raw option=
	shift 2
	raw=$(plain "$dump")
	case " $* " in *' --roots all '*) option=--roots-all ;; esac
	"$BUILD/oracle" $option "$raw" >"$work/oracle.csv" || true
	run objects --format csv "$@" "$dump"
	columns address tag words bytes reachable retained_bytes idom <"$work/out" >"$work/mine"
	columns address tag words bytes reachable retained_bytes idom <"$work/oracle.csv" >"$work/his"
	if [ "$status" -ne 0 ] || [ ! -s "$work/his" ]; then
		not_ok "$name" "exit $status, $(wc -l <"$work/his") rows of the oracle"
	else
		check_same "$name" "$work/mine" "$work/his"
	fi
}

differ=0
for dump in $(dumps_in "$fixtures"); do
	agrees "${dump#"$fixtures/"} equals the oracle" "$dump"
	mv "$work/mine" "$work/lasting"
	agrees "${dump#"$fixtures/"} equals the oracle, all roots alike" "$dump" --roots all
	cmp -s "$work/lasting" "$work/mine" || differ=$((differ + 1))
done
check 'roots that pass make a difference in some of them' test "$differ" -gt 0

shapes='mix shuffled list tree share cyc hash clos table listtab listfirst deeplist deeptree'
blocks=20000
for shape in $shapes; do
	"$BUILD/gendump" "$shape" "$blocks" 1 "$work/heap.dump.1.0" >"$work/said"
	agrees "$shape, $blocks blocks, equals the oracle" "$work/heap.dump.1.0"
done
for threads in 2 5; do
	"$BUILD/gendump" shuffled "$blocks" 2 "$work/heap.dump.1.0" >"$work/said"
	agrees "$threads threads give the same answer" "$work/heap.dump.1.0" --threads "$threads"
done

# The larger ones, where they are; the biggest of all would take the oracle minutes.
if has_more; then
	more_dumps | grep -v '/mid/' >"$work/list"
	while IFS= read -r dump; do
		agrees "${dump#"$more/"} equals the oracle" "$dump"
	done <"$work/list"
fi
