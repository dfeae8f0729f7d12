#!/bin/bash
# Traces of memtrace: against what its own tools printed of them, and damaged ones.
# shellcheck disable=SC2016 # programs of awk and jq
. tests/cli/lib.sh

traces=$fixtures/memtrace
# More traces, with what the tools printed of them; used where they are.
more_traces=${MORE_TRACES:-../shared/data/memtrace}

sum_of() {
	sha256sum | cut -d ' ' -f 1
}

# totals FILE MEMBER...: of its info, in one line.
totals() {
	local file=$1
	shift
	"$hg" trace info --format json "$file" 2>"$work/err" >"$work/info" || true
	command jq -r --args '[.totals[$ARGS.positional[]] | tostring] | join(" ")' "$@" <"$work/info"
}

# The text that dump_trace printed.
check_run 'dump' 0 trace dump $traces/trees-1e-6.ctf
check_same 'dump: every line' "$work/out" $traces/trees-1e-6.dump
check_equal 'dump: stacks of 12,000 frames' "$("$hg" trace dump $traces/deep-1e-1.ctf | sum_of)" \
	180282f4b909f6deb325df8ae4c3dc95b6059c73a01afb7236baa8e8250c2da7
check_equal 'dump: 21,929 events' "$("$hg" trace dump $traces/leak-1e-4.ctf | sum_of)" \
	5f59a0a64a358f86c61f3ac7cafc0e6706972333e1ff0ffbf7903753616944bc

# What flamegraph printed.
for name in deep-1e-1 leak-1e-4; do
	check_run "$name: folded" 0 trace tree --format folded $traces/$name.ctf
	check_same "$name: folded as memtrace does" "$work/out" $traces/$name.flame
done
check_run 'folded by the name of a file' 0 trace tree -o "$work/x.folded" $traces/leak-1e-4.ctf
check_same 'folded in a file' "$work/x.folded" $traces/leak-1e-4.flame

# What hotspots printed.
check_run 'hotspots' 0 trace hotspots $traces/leak-1e-4.ctf
check_same 'hotspots as memtrace does' "$work/out" $traces/leak-1e-4.hotspots

# Figures of an independent decoder, and of identify.
members='allocations minor_allocations major_allocations samples promotions collections peak_samples peak_us
	live_samples end_us frames deepest_backtrace truncated_backtraces'
# shellcheck disable=SC2086 # a list of words
check_equal 'info: totals' "$(totals $traces/leak-1e-4.ctf $members)" \
	'11389 10505 884 11427 838 9702 1724 439589 1715 440583 80764 12 0'
check_run 'info' 0 trace info $traces/leak-1e-4.ctf
missing=''
while IFS= read -r figure; do
	grep -qF -- "$figure" "$work/out" || missing="$missing $figure"
done < <(sed 's,^Trace file [^ ]*,,' $traces/leak-1e-4.identify | grep -oE '[0-9]([0-9.:e-]*[0-9])?')
# The size of the file has a decimal more here.
check_equal 'info: the figures of identify' "${missing/ 188/}" ''
cp "$work/out" "$work/first"
check_run 'info of a trace' 0 info $traces/leak-1e-4.ctf
check_same 'info knows a trace' "$work/out" "$work/first"
check_run 'a trace alone' 0 $traces/leak-1e-4.ctf
check_same 'a file alone may be a trace' "$work/out" "$work/first"

# Tables: all of each column is all of the trace.
check_run 'sites' 0 trace sites --format csv $traces/leak-1e-4.ctf
check_equal 'sites: header' "$(head -n 1 "$work/out")" \
	location,samples,bytes,bytes_error,live_bytes,peak_bytes,promoted_bytes
check_equal 'sites: sums' "$(columns samples bytes live_bytes peak_bytes <"$work/out" |
	awk '{ a += $1; b += $2; c += $3; d += $4 } END { printf "%d %d %d %d", a, b, c, d }')" \
	'11427 914160000 137200000 137920000'
check 'sites: one of them' grep -q '^Stdlib__Buffer.create@buffer.ml:34:9-23,1421,113680000,' "$work/out"
check_run 'functions' 0 trace functions --format csv $traces/leak-1e-4.ctf
check 'functions: once per stack' grep -q '^Dune__exe__Leak.render,7557,' "$work/out"
check_run 'functions as JSON' 0 trace functions --format json $traces/leak-1e-4.ctf
check 'functions: totals' jq -e '.samples_total == 11427 and .rows[0].samples == 11427' "$work/out"
check_run 'tree' 0 trace tree --format csv $traces/leak-1e-4.ctf
check_equal 'tree: what nodes allocate themselves is all' \
	"$(columns own_bytes <"$work/out" | awk '{ a += $1 } END { printf "%d", a }')" 914160000
run trace sites $traces/leak-1e-4.ctf
check 'sites: the rest is counted' grep -q '(13 more locations; --limit 0 shows all)' "$work/out"

# What is alive over time, by the events of the dump.
"$hg" trace dump $traces/leak-1e-4.ctf >"$work/dump"
check_run 'live' 0 trace live --points 37 --format csv $traces/leak-1e-4.ctf
check_equal 'live: header' "$(head -n 1 "$work/out")" time_us,live_samples,live_bytes,bytes_error,bytes
check_equal 'live: so many points' "$(wc -l <"$work/out")" 38
columns time_us live_samples bytes <"$work/out" >"$work/got"
awk -v OFS='\t' 'NR == FNR {
		if ($3 ~ /^alloc/) { size[$2] = $4; time[++n] = $1 + 0; change[n] = $4; new[n] = $4 }
		else if ($3 == "collect") { time[++n] = $1 + 0; change[n] = -size[$2]; new[n] = 0 }
		next
	}
	{ live = all = 0
	  for (i = 1; i <= n; i++) if (time[i] <= $1) { live += change[i]; all += new[i] }
	  printf "%d\t%d\t%d\n", $1, live, all * 80000 }' "$work/dump" "$work/got" >"$work/wanted"
check_same 'live: as the events say' "$work/got" "$work/wanted"
check_run 'live as JSON' 0 trace live --format json $traces/leak-1e-4.ctf
check 'live: the peak' jq -e '.peak_samples == 1724 and .peak_us == 439589 and (.rows | length) == 450' "$work/out"
check_run 'live: no points' 2 trace live --points 0 $traces/leak-1e-4.ctf

# Long lines spoil the names of files; here every function fN begins in line N + 3.
check_run 'long lines' 4 trace dump $traces/bad-longline-bytecode.ctf
check_equal 'long lines: all events' "$(wc -l <"$work/out")" 10772
check 'long lines: names are told' awk '
	{ for (i = 2; i <= NF; i++) if (match($i, /^Dune__exe__Ll\.f[0-9]+@ll\.ml:[0-9]+:[0-9]*-/)) {
		split($i, part, /[@:]/); sub(/.*\.f/, "", part[1])
		if (part[3] < 63 && part[3] != part[1] + 3) { print $i; exit 1 }
		count++ } }
	END { exit count < 5000 }' "$work/out"
check 'long lines: it is said' grep -q 'PARTIAL: columns of long lines' "$work/err"
check_run 'long lines, strict' 3 trace dump --strict $traces/bad-longline-bytecode.ctf

# Damage.
head -c 100000 $traces/leak-1e-4.ctf >"$work/cut.ctf"
check_run 'a file cut short' 4 trace info "$work/cut.ctf"
check_equal 'a file cut short: one line says so' "$(grep -c 'PARTIAL: the file ends within' "$work/err")" 1
check_run 'a file cut short, strict' 3 trace info --strict "$work/cut.ctf"
check_run 'the first packet cut short' 3 trace info $traces/bad-trunc-info.ctf
check 'the first packet cut short: said' grep -q 'ends within its first packet' "$work/err"
: >"$work/empty.ctf"
check_run 'an empty file' 3 trace info "$work/empty.ctf"
check_run 'no trace' 3 trace info $tiny
check 'no trace: said' grep -q 'neither a trace of memtrace' "$work/err"
{ head -c 28 $traces/trees-1e-6.ctf; printf '\t\0'; tail -c +31 $traces/trees-1e-6.ctf; } >"$work/v9.ctf"
check_run 'a version that is not known' 3 trace info "$work/v9.ctf"
check 'a version that is not known: both are named' grep -q 'version 9: versions 1 to 3' "$work/err"
mkfifo "$work/fifo"
check_run 'a FIFO' 3 trace info "$work/fifo"
{ head -c 202 $traces/trees-1e-6.ctf; printf 'noise between packets'; tail -c +203 $traces/trees-1e-6.ctf; } \
	>"$work/noise.ctf"
check_run 'noise between packets' 4 trace dump "$work/noise.ctf"
check_same 'noise between packets: all events' "$work/out" $traces/trees-1e-6.dump
zstd -qf $traces/leak-1e-4.ctf -o "$work/packed.ctf.zst"
check_run 'a compressed trace' 0 info "$work/packed.ctf.zst"
check 'a compressed trace: known as one' grep -q 'Trace of memtrace' "$work/out"
check_run 'trace alone' 2 trace
check_run 'trace of no verb' 2 trace nothing $traces/leak-1e-4.ctf

if [ ! -d "$more_traces" ]; then
	skip 'traces of real programs' "no $more_traces"
	exit 0
fi

while read -r sum _ _ name; do
	[ "$sum" != '#' ] || continue
	check_equal "$name: dump" "$("$hg" trace dump "$more_traces/$name" | sum_of)" "$sum"
done <"$more_traces/DUMP_SHA256.txt"

for flame in "$more_traces"/ref/*.flame "$more_traces"/ref/*.flame.zst; do
	name=$(basename "${flame%.zst}" .flame)
	zstd -qdcf "$flame" >"$work/flame"
	check_run "$name: folded" 0 trace tree --format folded "$more_traces/$name.ctf"
	check_same "$name: folded as memtrace does" "$work/out" "$work/flame"
done

# The original ends with an exception where backtraces are empty.
for hotspots in "$more_traces"/ref/*.hotspots; do
	[ -s "$hotspots" ] || continue
	name=$(basename "$hotspots" .hotspots)
	run trace hotspots "$more_traces/$name.ctf"
	check_same "$name: hotspots as memtrace does" "$work/out" "$hotspots"
done

# bad-expected.tsv: what a tolerant reader gets.
members='allocations minor_allocations major_allocations external_allocations samples promotions collections
	frames end_us'
while IFS=$'\t' read -r name _ allocations minor major external samples promotes collects frames _ end; do
	name=${name%% *}
	if [ ! -e "$more_traces/$name" ] || [ "$end" = - ]; then
		continue
	fi
	# shellcheck disable=SC2086 # a list of words
	check_equal "$name: what is left" "$(totals "$more_traces/$name" $members)" \
		"$allocations $minor $major $external $samples $promotes $collects $frames $end"
done <"$more_traces/ref/bad-expected.tsv"

# Tables by an independent decoder; where the peak is in a microsecond with other events, they may
# differ, and cut backtraces have no place of allocation.
for tables in "$more_traces"/ref/*.tables.txt; do
	name=$(basename "$tables" .tables.txt)
	awk -F '\t' '/^==/ { all = / all / } all && $1 == "func" { print $4 "\t" $2 }' "$tables" >"$work/wanted"
	run trace functions --format csv "$more_traces/$name.ctf"
	columns function samples <"$work/out" >"$work/got"
	check "$name: functions" awk -F '\t' 'NR == FNR { got[$1] = $2; next }
		got[$1] != $2 { print; exit 1 }' "$work/got" "$work/wanted"
done
