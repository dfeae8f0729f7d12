#!/bin/bash
# Filters of traces: against the events of the dump, and what memtrace_viewer's own tests expect.
# shellcheck disable=SC2016 # programs of awk
. tests/cli/lib.sh

trace=$fixtures/memtrace/leak-1e-4.ctf
more_traces=${MORE_TRACES:-../shared/data/memtrace}
"$hg" trace dump $trace >"$work/dump"

# Every object: id, time, samples, bytes, heap, promoted, collected (-1: never), stack; peak and end.
awk '
	$3 ~ /^alloc/ {
		id = $2; samples[id] = $4; time[id] = $1 + 0
		bytes[id] = 8 * substr($5, 5); heap[id] = $3; promoted[id] = collected[id] = -1
		stack[id] = substr($0, index($0, ": ") + 2); order[++n] = id
		live += $4; if (live > most) { most = live; peak = $1 + 0 }
	}
	$3 == "promote" { promoted[$2] = $1 + 0 }
	$3 == "collect" { collected[$2] = $1 + 0; live -= samples[$2] }
	{ end = $1 + 0 }
	END {
		for (i = 1; i <= n; i++) {
			id = order[i]
			printf "%s\t%d\t%d\t%d\t%s\t%d\t%d\t%s\n", id, time[id], samples[id], bytes[id],
				heap[id], promoted[id], collected[id], stack[id]
		}
		printf "%d %d\n", peak, end >"/dev/stderr"
	}' "$work/dump" >"$work/objects" 2>"$work/times"
read -r peak end <"$work/times"

# selected CONDITION: samples of the objects it holds for; of time, bytes, heap, promoted, gone
# (collected or the end), never, stack.
selected() {
	awk -F '\t' -v peak="$peak" -v end="$end" '{
		time = $2; bytes = $4; heap = $5; promoted = $6; never = $7 < 0
		gone = never ? end : $7; after = never ? end + 1 : $7; stack = $8
		if ('"$1"') all += $3
	} END { printf "%d", all }' "$work/objects"
}

# agrees CONDITION OPTION...: two views count what the condition selects.
agrees() {
	local wanted
	wanted=$(selected "$1")
	shift
	check_run "$*" 0 trace functions --format json "$@" $trace
	check_equal "$*: samples" "$(command jq .samples_total "$work/out")" "$wanted"
	check "$*: some, not all" test "$wanted" -gt 0 -a "$wanted" -lt 11427
	"$hg" trace sites --format csv "$@" $trace >"$work/out"
	check_equal "$*: sites" "$(columns samples <"$work/out" | awk '{ n += $1 } END { printf "%d", n }')" "$wanted"
	"$hg" trace tree --format csv "$@" $trace >"$work/out"
	check_equal "$*: tree" "$(columns samples <"$work/out" | head -n 1)" "$wanted"
	"$hg" trace live --points 3 --format csv "$@" $trace >"$work/out"
	check_equal "$*: live" "$(columns bytes <"$work/out" | tail -n 1)" "$((wanted * 80000))"
}

agrees 'time <= 200000 && after > 200000' --at 200ms
agrees 'time <= peak && after > peak' --at peak
agrees 'never' --at end
agrees 'time <= 300000 && after > 100000' --alive 0.1..300000us
agrees 'time >= 50000 && time <= 60000' --allocated 50ms..0.06s
agrees 'gone >= 400000' --collected 400ms..
agrees 'gone <= 400000' --collected ..0.4
agrees 'gone - time <= 1000' --lifetime ..1ms
agrees 'gone - time >= 100000' --lifetime 0.1s..
agrees 'bytes >= 1024 && bytes <= 131072' --block-size 1K..128K
agrees 'stack ~ /(^| )Dune__exe__Leak\.render@/' --inside Dune__exe__Leak.render
agrees 'stack !~ /(^| )Dune__exe__Leak\.render@/' --not-inside Dune__exe__Leak.render
agrees 'stack ~ /(^| )[^ @]*Buffer[^ @]*@/' --inside-containing Buffer
agrees 'stack !~ /(^| )[^ @]*Buffer[^ @]*@/' --not-inside-containing Buffer
agrees '(heap == "alloc_major" || promoted >= 0) && bytes >= 2048' --not-on minor --block-size 2K..
agrees 'heap == "alloc_major" || promoted >= 0' --on major
agrees 'heap == "alloc"' --on minor
agrees 'heap == "alloc" && (promoted >= 0 ? promoted : gone) - time <= 500' --on minor --lifetime ..500us
agrees '(heap == "alloc_major" || promoted >= 0) && gone - (heap == "alloc_major" ? time : promoted) >= 300000' \
	--not-on minor --lifetime 300ms..
agrees 'bytes >= 100 && never && stack ~ /(^| )[^ @]*handle[^ @]*@/ && time >= 100000' \
	--block-size 100.. --at end --inside-containing handle --allocated 100ms..

# Two clauses about one thing hold both; nothing is left of what cannot be.
check_run 'nothing is left' 0 trace functions --format csv --not-on minor --not-on major $trace
check_equal 'nothing is left: no row' "$(wc -l <"$work/out")" 1
check_run 'it is said that not all counts' 0 trace sites --at end $trace
check 'it is said that not all counts: once' grep -q '^Only allocations that the options select count' "$work/out"

# Hidden functions are not in any stack, and what they allocate is there.
check_run 'hide' 0 trace functions --format csv --hide Dune__exe__Leak.render $trace
check_equal 'hide: no row' "$(grep -c '^Dune__exe__Leak.render,' "$work/out")" 0
check_run 'hide: folded' 0 trace tree --format folded --hide-containing Buffer $trace
check_equal 'hide: not in stacks' "$(grep -c Buffer "$work/out")" 0
check_equal 'hide: all samples' "$(awk '{ n += $NF } END { printf "%d", n }' "$work/out")" \
	"$("$hg" trace tree --format csv $trace | columns samples | head -n 1)"

# What of live is alive under --not-on minor comes when it is promoted.
check_run 'live of the major heap' 0 trace live --points 50 --format csv --not-on minor $trace
columns time_us live_samples <"$work/out" >"$work/got"
awk -F '\t' -v OFS='\t' 'NR == FNR { n++; size[n] = $3; gone[n] = $7
		from[n] = $5 == "alloc_major" ? $2 : $6; next }
	{ live = 0
	  for (i = 1; i <= n; i++) if (from[i] >= 0 && from[i] <= $1 && (gone[i] < 0 || gone[i] > $1)) live += size[i]
	  print $1, live }' "$work/objects" "$work/got" >"$work/wanted"
check_same 'live of the major heap: as the events say' "$work/got" "$work/wanted"

for wrong in --at=x --at=1x --alive=.. --alive=2s..1s --lifetime=5 --block-size=1Q.. --not-on=stack --on=heap; do
	check_run "$wrong" 2 trace sites "$wrong" $trace
done
check_run 'two times' 2 trace sites --at 1s --alive 1s.. $trace

expected=$more_traces/ref/viewer-test_trace.expected-filters.txt
if [ ! -e "$expected" ]; then
	skip 'expectations of memtrace_viewer' "no $expected"
	exit 0
fi

# as_expected TITLE OPTION...: the section of that title, by the events of the dump.
as_expected() {
	local title=$1
	shift
	check_run "$title" 0 trace dump "$@" "$more_traces/viewer-test_trace.ctf"
	awk -v OFS='\t' '
		$3 !~ /^alloc/ { print $1 + 0, $3, $2 + 0; next }
		{
			functions = site = "-"; delete on
			for (i = 1; i <= NF; i++) {
				if (!(at = index($i, "@"))) continue
				name = substr($i, 1, at - 1); site = substr($i, at + 1)
				if (name in on) continue
				on[name] = 1; sub(/^[^.]*$/, "<init>", name); sub(/.*\./, "", name)
				functions = functions == "-" ? name : functions " " name
			}
			print $1 + 0, "alloc", $2 + 0, $3 == "alloc" ? "minor" : "major", $4 * 80, functions,
				$NF == "(hidden)" ? "-" : site
		}' "$work/out" >"$work/got"
	awk -v title="== $title" '/^==/ { now = index($0, title) == 1; next } now && !/\tend$/' "$expected" \
		>"$work/wanted"
	head -n "$(wc -l <"$work/wanted")" "$work/got" >"$work/first"
	check_same "$title: as memtrace_viewer" "$work/first" "$work/wanted"
	case $title in
	'hide b' | 'show major'*) ;;
	*) check_same "$title: no more" "$work/got" "$work/wanted" ;;
	esac
}

as_expected 'large allocs' --block-size 1K..
as_expected 'short lifetimes' --lifetime ..4us
as_expected 'only array functions' --inside-containing Array
as_expected 'no b' --not-inside-containing .b
as_expected 'hide b' --hide-containing .b
as_expected 'show major heap only' --not-on minor
as_expected 'all events'
