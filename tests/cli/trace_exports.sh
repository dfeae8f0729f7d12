#!/bin/bash
# Exports of traces for other viewers: against the events, and what the viewers read in them.
. tests/cli/lib.sh

trace=$fixtures/memtrace/leak-1e-4.ctf
deep=$fixtures/memtrace/deep-1e-1.ctf
more_traces=${MORE_TRACES:-../shared/data/memtrace}

# same_stacks FILE RATE MOMENT AT: both exports have the stacks of the events.
same_stacks() {
	local name
	name=$(basename "$1" .ctf)
	"$hg" trace dump "$1" >"$work/dump"
	for format in pprof speedscope; do
		check_run "$name: $format at $4" 0 trace tree --format $format --at "$4" "$1"
		tests/cli/trace_exports.py $format "$work/dump" "$2" "$3" "$work/out" >"$work/compared" 2>&1
		check "$name: $format at $4: as the events say" grep -qE '^[1-9][0-9]* stacks, 0 differ$' "$work/compared"
	done
}

same_stacks $trace 1e-4 440583 end
same_stacks $trace 1e-4 439589 peak
same_stacks $trace 1e-4 200000 200ms
same_stacks $deep 0.1 54256 end

# Without --at what is in use is that of the end; the filters hold as everywhere.
"$hg" trace tree --format pprof --at end $trace >"$work/end.pb"
check_run 'pprof by the name of a file' 0 trace tree -o "$work/x.pb" $trace
check_same 'pprof: in use at the end' "$work/x.pb" "$work/end.pb"
check_run 'speedscope: filtered' 0 trace tree --format speedscope --inside Dune__exe__Leak.render $trace
check 'speedscope: filtered: bytes' jq -e '.profiles[0].endValue == 604560000' "$work/out"
check_run 'a moment that is none' 2 trace tree --format pprof --at never $trace
check_run 'from allocation: no pprof' 2 trace tree --from allocation --format pprof $trace

if command -v go >/dev/null; then
	go tool pprof -top -nodecount 5 -sample_index alloc_space "$work/end.pb" >"$work/top" 2>&1
	check 'go tool pprof: all of it' grep -q 'Total samples = 871.81MB' "$work/top"
	check 'go tool pprof: a function' grep -qE '160.52MB 18.41%.* Stdlib__Buffer.create$' "$work/top"
else
	skip 'go tool pprof' 'no go'
fi

# A heap profile: all of it is what is alive, and at the end the columns of sites.
# hp_lines: "time TAB name TAB bytes" of each line in a sample.
hp_lines() {
	awk -v OFS='\t' '$1 == "BEGIN_SAMPLE" { time = $2; next } /^  / { print time, $1, $2 }'
}
check_run 'hp' 0 trace hp --points 7 $trace
hp_lines <"$work/out" >"$work/lines"
"$hg" trace live --points 7 --format csv $trace | columns time_us live_bytes >"$work/wanted"
awk -F '\t' -v OFS='\t' '{ sum[$1] += $3; if (!($1 in at)) { at[$1] = ++n; time[n] = $1 } }
	END { for (i = 1; i <= n; i++) printf "%d\t%d\n", time[i] * 1e6 + 0.5, sum[time[i]] }' \
	"$work/lines" >"$work/got"
check_same 'hp: all that is alive' "$work/got" "$work/wanted"
awk -F '\t' -v OFS='\t' '$1 > 0.44058 { print $2, $3 }' "$work/lines" | LC_ALL=C sort >"$work/got"
"$hg" trace sites --format csv $trace | columns location live_bytes | awk '$NF > 0' | LC_ALL=C sort >"$work/wanted"
check_same 'hp: the end as sites' "$work/got" "$work/wanted"
check_run 'hp: a few places' 0 trace hp --points 7 --limit 2 -o "$work/x.hp" $trace
check_equal 'hp: a few places and the others' "$(hp_lines <"$work/x.hp" | cut -f 2 | sort -u | wc -l)" 3
check_equal 'hp: the others are the rest' "$(hp_lines <"$work/x.hp" | awk '{ n += $3 } END { printf "%d", n }')" \
	"$(awk '{ n += $3 } END { printf "%d", n }' "$work/lines")"
check_run 'hp: filtered' 0 trace hp --points 5 --at end $trace
check_equal 'hp: filtered: places of what is alive at the end' "$(hp_lines <"$work/out" | cut -f 2 | sort -u | wc -l)" \
	"$("$hg" trace sites --at end --format csv $trace | tail -n +2 | wc -l)"
check_run 'hp: no points' 2 trace hp --points 0 $trace

if [ ! -d "$more_traces" ]; then
	skip 'traces of real programs' "no $more_traces"
	exit 0
fi
same_stacks "$more_traces/irmin-replay.ctf" 1e-6 8209760 peak
same_stacks "$more_traces/v3-leak-1e-4-stripped.ctf" 1e-4 440583 end
same_stacks "$more_traces/viewer-test_trace.ctf" 0.1 1036 peak
