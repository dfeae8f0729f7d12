#!/bin/bash
# Charts of what is alive in a trace over time: against the same as tables, by place and in sum.
. tests/cli/lib.sh

trace=$fixtures/memtrace/leak-1e-4.ctf
more_traces=${MORE_TRACES:-../shared/data/memtrace}

# shows NAME POINTS FILE OPTION...: the chart has the areas of hp and the sums of live.
shows() {
	local name=$1 points=$2 file=$3 all
	shift 3
	rm -f "$work/live.svg"
	check_run "$name: chart" 0 trace live --points "$points" -o "$work/live.svg" "$@" "$file"
	"$hg" trace hp --points "$points" --limit 10 "$@" "$file" >"$work/live.hp"
	"$hg" trace live --points "$points" --format json "$@" "$file" >"$work/live.json"
	all=$work/live.json
	if [ $# -gt 0 ]; then
		all=$work/all.json
		"$hg" trace live --points "$points" --format json "$file" >"$all"
	fi
	check "$name: it shows the trace" tests/cli/trace_chart.py "$work/live.svg" "$work/live.hp" \
		"$work/live.json" "$all"
}
shows 'leak' 450 $trace
shows 'leak, a few points' 7 $trace
shows 'leak, two points' 2 $trace
shows 'leak, filtered' 100 $trace --not-inside-containing lookup
shows 'deep' 450 $fixtures/memtrace/deep-1e-1.ctf
for name in json-1e-3 v3-leak-1e-4-stripped v3-leak-1e-3-dom4 memthol-mini_ae irmin-replay many_large-1; do
	[ -f "$more_traces/$name.ctf" ] || continue
	shows "$name" 450 "$more_traces/$name.ctf"
	shows "$name, major heap" 90 "$more_traces/$name.ctf" --not-on minor
done
run trace live -o "$work/x.svg" $trace
check 'chart: what it is' grep -q '>leak.exe: memory alive over time, by place of allocation<' "$work/x.svg"
check 'chart: it is an estimate' grep -q '>Estimates from samples: one word of 10,000<' "$work/x.svg"
check_run 'chart as PNG' 0 trace live -o "$work/x.png" $trace
check_equal 'chart as PNG: as wide as a screen' "$(od -An -tu1 -j16 -N4 "$work/x.png")" '   0   0   5   0'
check_run 'chart as PDF' 0 trace live -o "$work/x.pdf" $trace
check_equal 'chart as PDF has its magic' "$(head -c 5 "$work/x.pdf")" '%PDF-'
check_run 'a chart of too many points' 2 trace live --points 10001 -o "$work/no.svg" $trace
check 'a chart of too many points is not there' test ! -e "$work/no.svg"

# shows_series FILE: the growth of its places, by each count.
shows_series() {
	local count column
	while read -r count column; do
		check_run "$1: chart of $count" 0 trace trend --count "$count" -o "$work/trend.svg" "$1"
		"$hg" trace trend --count "$count" --limit 0 --format json "$1" >"$work/trend.json"
		check "$1: chart of $count: it shows the series" tests/cli/series_chart.py "$work/trend.svg" \
			"$work/trend.json" "$column"
	done <<-'EOF'
		live live_bytes
		blocks blocks
		allocated allocated_bytes
	EOF
}
for file in "$fixtures"/spacetime/*.spacetime.zst ../shared/data/spacetime/*/p10.spacetime.zst; do
	[ ! -f "$file" ] || shows_series "$file"
done
run trace trend -o "$work/trend.svg" $fixtures/spacetime/p1-4.08.1.spacetime.zst
check 'series: an event has its name' grep -q '>built the tree<' "$work/trend.svg"
zstd -dcq $fixtures/spacetime/p1-4.08.1.spacetime.zst | head -c 29 >"$work/none.spacetime"
check_run 'series without snapshots' 3 trace trend -o "$work/none.svg" "$work/none.spacetime"
check 'series without snapshots: no chart' test ! -e "$work/none.svg"
