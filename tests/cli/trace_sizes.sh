#!/bin/bash
# Sizes and lifetimes of blocks: against the events of the dump, by a program that shares nothing with
# heapgraph, and what the notebooks of ocaml-alloc-stats print of a trace that they publish.
. tests/cli/lib.sh

more_traces=${MORE_TRACES:-../shared/data/memtrace}
leak=$fixtures/memtrace/leak-1e-4.ctf

# as_dumped TRACE: what all blocks are, those that outlive the minor heap, and as the notebooks count.
as_dumped() {
	local name rate
	name=$(basename "$1" .ctf)
	"$hg" trace dump "$1" >"$work/dump" 2>/dev/null || true
	rate=$("$hg" trace info --format json "$1" 2>/dev/null | jq -r .trace.rate)
	counted_as "$name" all "$1" "$rate"
	counted_as "$name" major "$1" "$rate" --not-on minor
	counted_as "$name" notebooks "$1" "$rate" --compat
}

counted_as() {
	local name=$1 mode=$2 trace=$3 rate=$4
	shift 4
	run trace sizes --format json "$@" "$trace"
	mv "$work/out" "$work/sizes"
	run trace lifetimes --format json "$@" "$trace"
	mv "$work/out" "$work/lifetimes"
	check "$name, $mode: as its events say" \
		python3 tests/cli/trace_sizes.py "$rate" "$mode" "$work/dump" "$work/sizes" "$work/lifetimes"
}

for name in leak-1e-4 leak-dom4 deep-1e-1 trees-1e-6 bad-longline-bytecode; do
	as_dumped "$fixtures/memtrace/$name.ctf"
done

# Of domains that write one after the other, what the order of the file says is not so.
times() {
	"$hg" trace dump "$1" | awk '$3 ~ /^alloc/ { if ($1 < last) back++; last = $1 } END { print back + 0 }'
}
check 'several domains: not in the order of time' test "$(times $fixtures/memtrace/leak-dom4.ctf)" -gt 10
check 'one domain: in the order of time' test "$(times $leak)" -eq 0

# Headers of CSV, which is the same as JSON.
header() {
	"$hg" trace "$@" --format csv $leak | head -n 1
}
check_equal 'header of sizes' "$(header sizes)" 'words,events,samples,blocks,bytes'
check_equal 'header of bins' "$(header sizes --table to_32)" 'from,to,events,samples,blocks,bytes'
check_equal 'header of lifetimes' "$(header lifetimes)" 'from,to,events,alive,samples,blocks,bytes'
check_equal 'header of sizes in notebooks' "$(header sizes --compat)" 'words,every_events,events'
check_equal 'header of bins in notebooks' "$(header lifetimes --compat)" 'from,to,events,alive'
check_equal 'header of statistics' "$(header sizes --table statistics)" \
	'part,weight,from_us,to_us,count,words,mean,variance,deviation,largest,above_127,above_256,above_127_percent,above_256_percent'
check_equal 'header of statistics of lifetimes' "$(header lifetimes --table statistics)" \
	'unit,weight,count,mean,variance,deviation,longest'

# as_json VERB TABLE OPTION...: the CSV of a table is what JSON has.
as_json() {
	local verb=$1 table=$2
	shift 2
	"$hg" trace "$verb" --format json "$@" $leak | jq -r --arg table "$table" \
		'.[$table] | (.[0] | keys_unsorted | map(select(test("^share_") | not))) as $keys
		| ($keys | join(",")), (.[] | [.[$keys[]]] | map(. // "" | tostring) | join(","))' >"$work/wanted"
	"$hg" trace "$verb" --format csv --table "$table" "$@" $leak | tr -d '\r' >"$work/got"
	check_same "$verb, table $table $*: CSV as JSON" "$work/got" "$work/wanted"
}
for table in statistics sizes powers to_32 to_256 to_10000 above_10000 in_8 in_1000 to_100 to_9000; do
	as_json sizes $table
	[ $table = powers ] || as_json sizes $table --compat
done
for table in statistics powers ticks microseconds; do
	as_json lifetimes $table
done

# Filters: as many samples as other verbs count; and all of them are in the tables.
for filter in '--not-on minor' '--at end' '--inside-containing Buffer' '--on minor' '--lifetime 1ms..'; do
	# shellcheck disable=SC2086 # words
	wanted=$("$hg" trace functions --format json $filter $leak | jq .samples_total)
	for verb in sizes lifetimes; do
		# shellcheck disable=SC2086
		"$hg" trace $verb --format json $filter $leak >"$work/out"
		check_equal "$verb $filter: samples" "$(jq .samples_total "$work/out")" "$wanted"
		check_equal "$verb $filter: samples of bins" "$(jq '[.powers[].samples] | add' "$work/out")" "$wanted"
	done
	check "$filter: some" test "$wanted" -gt 0
done
check_equal 'alive at the end' \
	"$("$hg" trace lifetimes --format json --at end $leak | jq '.events_total == .alive_total')" true
check_equal 'no longer than 1 ms' "$("$hg" trace lifetimes --format csv --table statistics --lifetime ..1ms $leak |
	columns longest | awk 'NR == 1 { print $1 <= 1000 }')" 1

# For people.
check_run 'text' 0 trace sizes $leak
check 'text: what it is' grep -Eq '^Sizes of blocks: 11,389 sampled, which stand for [0-9,]+ blocks, 871\.[0-9] MB$' "$work/out"
check 'text: no empty bins' test "$(grep -c ' - ' "$work/out")" -lt 20
check_run 'text of lifetimes' 0 trace lifetimes --at end $leak
check 'text of lifetimes: filtered' grep -q '^Only allocations that the options select count' "$work/out"
check_run 'text of one table' 0 trace sizes --table to_32 $leak
check 'text of one table: only that' test "$(grep -c 'deviation' "$work/out")" -eq 0
check_run 'nothing counts' 0 trace sizes --format json --not-on minor --not-on major $leak
check_equal 'nothing counts: nothing' "$(jq -c '[.events_total, (.sizes | length), (.to_32 | length)]' "$work/out")" '[0,0,32]'
check_run 'nothing lives' 0 trace lifetimes --format json --not-on minor --not-on major $leak
check_equal 'nothing lives: nothing' "$(jq -c '[.events_total, (.powers | length), .statistics[0].mean]' "$work/out")" '[0,0,"0"]'

for wrong in '--table stacks' '--compat --at end' '--compat --table powers' '--table ticks'; do
	# shellcheck disable=SC2086
	refuses "sizes $wrong" 2 trace sizes $wrong $leak
done
check_run 'a series of Spacetime has none' 2 trace sizes $fixtures/spacetime/p1-4.04.2.spacetime.zst
check_run 'damaged' 4 trace lifetimes $fixtures/memtrace/bad-longline-bytecode.ctf
check_run 'damaged, strict' 3 trace sizes --strict $fixtures/memtrace/bad-longline-bytecode.ctf

irmin=$more_traces/irmin-replay.ctf
if [ ! -e "$irmin" ]; then
	skip 'irmin-replay' "no $irmin"
	exit 0
fi

# What the notebooks print of it.
statistic() {
	"$hg" trace sizes --compat --format csv --table statistics "$irmin" | columns part "$@"
}
check_equal 'irmin: sizes' "$(statistic count mean largest | awk '$1 == "all" { print $2, $3, $4 }')" \
	'739 737.660351826793 376181'
check_equal 'irmin: deviation' "$(statistic deviation | awk '$1 == "all" { printf "%.3f", $2 }')" 14584.597
check_equal 'irmin: variance is its square' "$(statistic deviation variance |
	awk '$1 == "all" { print ($2 * $2 / $3 - 1) ^ 2 < 1e-24 }')" 1
check_equal 'irmin: large' "$(statistic above_256_percent | awk '$1 == "all" { printf "%.4f", $2 }')" 1.6238
check_equal 'irmin: above 127 of all' "$(statistic count above_127_percent |
	awk '$1 == "every" { printf "%d %.5f", $2, $3 }')" '10607 0.11313'
check_equal 'irmin: deviations of ten parts' "$(statistic deviation | awk '$1 ~ /\/10$/ { printf "%.2f ", $2 }')" \
	'43433.24 14440.09 158.95 5.06 2132.33 244.02 131.90 4.78 5.50 951.69 '
check_equal 'irmin: large of ten parts' "$(statistic above_256 | awk '$1 ~ /\/10$/ { printf "%d ", $2 }')" \
	'1 3 1 0 4 1 1 0 0 1 '
check_equal 'irmin: without the first and last 100' "$(statistic count | awk '$1 == "middle" { print $2 }')" 539
check_equal 'irmin: sizes of all' "$("$hg" trace sizes --compat --format csv "$irmin" | columns every_events events |
	awk '{ all += $1; some += $2 } END { print all, some }')" '10607 739'
bins() {
	"$hg" trace lifetimes --format csv "$@" "$irmin" | columns events | head -n 8 | tr '\n' ' '
}
lives() {
	"$hg" trace lifetimes --format json "$@" "$irmin"
}
check_equal 'irmin: ticks' "$(lives --compat | jq -c '[.ticks_total, .alive_total, .statistics[1].longest]')" '[1477,1,467]'
check_equal 'irmin: bins of ticks' "$(bins --compat --table ticks)" '0 56 83 54 20 18 29 16 '
check_equal 'irmin: bins of microseconds' "$(bins --compat | cut -d ' ' -f 1-6)" '251 85 108 84 77 24'
check_equal 'irmin: longest' "$(lives --compat | jq .statistics[0].longest)" 13745183
check_equal 'irmin: right bins of microseconds' "$(bins --not-on minor --table microseconds)" '241 81 111 85 75 29 16 12 '
check_equal 'irmin: right longest' "$(lives --not-on minor | jq .statistics[0].longest)" 13753561
check_equal 'irmin: ticks are right' "$(bins --not-on minor --table ticks)" '0 56 83 54 20 18 29 16 '

as_dumped "$irmin"
as_dumped "$more_traces/v3-leak-1e-3-dom4.ctf"
for name in json-1e-3 many_large-1; do
	! is_thorough || as_dumped "$more_traces/$name.ctf"
done

# At rate 1 estimates are what there was.
"$hg" trace sizes --format csv "$more_traces/many_large-1.ctf" | columns events blocks >"$work/out"
# shellcheck disable=SC2016 # a program of awk
check 'all sampled: blocks are events' awk '$1 != $2 { exit 1 }' "$work/out"
