#!/bin/bash
# Traces that are written from traces: fewer samples, a part, nothing that tells whose they are.
# shellcheck disable=SC2016 # programs of awk and jq
. tests/cli/lib.sh

trace=$fixtures/memtrace/leak-1e-4.ctf
deep=$fixtures/memtrace/deep-1e-1.ctf
more_traces=${MORE_TRACES:-../shared/data/memtrace}

# same_events NAME FILE: all samples are written, and read as they were.
same_events() {
	check_run "$1: written" 0 trace subsample -o "$work/copy.ctf" "$2"
	"$hg" trace dump "$2" >"$work/wanted"
	check_run "$1: read, strictly" 0 trace dump --strict "$work/copy.ctf"
	check_same "$1: every event" "$work/out" "$work/wanted"
}
same_events 'all samples' $trace
same_events 'stacks of 12,000 frames' $deep
same_events 'a small one' $fixtures/memtrace/trees-1e-6.ctf
check_equal 'as large as the original' "$(stat -c %s "$work/copy.ctf")" \
	"$(stat -c %s $fixtures/memtrace/trees-1e-6.ctf)"

# One in ten: so many, and estimates within five standard errors.
check_run 'one in ten' 0 trace subsample --one-in 10 -o "$work/tenth.ctf" $trace
check_run 'one in ten: again' 0 trace subsample --one-in 10 --seed 1 -o "$work/again.ctf" $trace
check_same 'one in ten: the same' "$work/tenth.ctf" "$work/again.ctf"
check_run 'one in ten: others' 0 trace subsample --one-in 10 --seed 2 -o "$work/others.ctf" $trace
check 'one in ten: not the same' bash -c "! cmp -s '$work/tenth.ctf' '$work/others.ctf'"
for file in tenth others; do
	"$hg" trace info --format json "$work/$file.ctf" >"$work/out"
	check "$file: so many samples" jq -e '.totals.samples > 950 and .totals.samples < 1350' "$work/out"
	check "$file: the rate says so" jq -e '.trace.rate | tonumber > 0.99e-5 and tonumber < 1.01e-5' "$work/out"
	"$hg" trace functions --format csv "$work/$file.ctf" | columns function bytes bytes_error >"$work/got"
	"$hg" trace functions --format csv $trace | columns function bytes >"$work/wanted"
	check "$file: estimates" awk -F '\t' 'NR == FNR { wanted[$1] = $2; next }
		{ n++; off = $2 - wanted[$1] } off < 0 { off = -off } off > 5 * $3 { print; exit 1 }
		END { exit n < 10 }' "$work/wanted" "$work/got"
done

# Large blocks have many samples each.
"$hg" trace subsample --one-in 7 --block-size 1K.. -o "$work/large.ctf" $deep
wanted=$("$hg" trace functions --format json --block-size 1K.. $deep | command jq .samples_total)
check_run 'large blocks' 0 trace info --format json "$work/large.ctf"
check "large blocks: a seventh of $wanted" jq -e --argjson n "$wanted" \
	'(.totals.samples - $n / 7) | . * . < 25 * $n / 7' "$work/out"

# What the options select is what is written.
check_run 'a span of time' 0 trace subsample --allocated 100ms..200ms -o "$work/span.ctf" $trace
"$hg" trace functions --format csv --allocated 100ms..200ms $trace >"$work/wanted"
check_run 'a span of time: read' 0 trace functions --strict --format csv "$work/span.ctf"
check_same 'a span of time: functions' "$work/out" "$work/wanted"
check_run 'hidden functions' 0 trace subsample --hide-containing Buffer -o "$work/hidden.ctf" $trace
"$hg" trace tree --format folded --hide-containing Buffer $trace >"$work/wanted"
check_run 'hidden functions: read' 0 trace tree --format folded "$work/hidden.ctf"
check_same 'hidden functions: stacks' "$work/out" "$work/wanted"

# Nothing that tells whose it is.
check_run 'anonymise' 0 trace anonymise -o "$work/anonymous.ctf" $trace
"$hg" trace dump $trace | sed 's/ *[0-9]*:.*/    0:/' >"$work/wanted"
check_run 'anonymise: read' 0 trace dump --strict "$work/anonymous.ctf"
check_same 'anonymise: all events without stacks' "$work/out" "$work/wanted"
check_run 'anonymise: info' 0 trace info --format json "$work/anonymous.ctf"
check 'anonymise: no names' jq -e '.trace.program == "<anonymous>" and .trace.host == "<anonymous>"' "$work/out"
check 'anonymise: nothing in the file' bash -c "! grep -qaE 'leak|Leak|render|Stdlib|exe' '$work/anonymous.ctf'"

check_run 'one in none' 2 trace subsample --one-in 0 $trace
check_run 'another kind of file' 2 trace subsample -o "$work/x.csv" $trace
head -c 100000 $trace >"$work/cut.ctf"
check_run 'of a file cut short' 4 trace subsample -o "$work/rest.ctf" "$work/cut.ctf"
check_run 'of a file cut short: what is left' 0 trace dump --strict "$work/rest.ctf"
"$hg" trace dump "$work/cut.ctf" 2>/dev/null >"$work/wanted" || true
check_same 'of a file cut short: every event' "$work/out" "$work/wanted"

if [ ! -d "$more_traces" ]; then
	skip 'traces of real programs' "no $more_traces"
	exit 0
fi
for name in irmin-replay json-1e-3 maps-1e-3 many_large-1 v1-lists_and_sets v1-ocamlopt-2M viewer-test_trace; do
	same_events "$name" "$more_traces/$name.ctf"
done
check_run 'stripped as memtrace does' 0 trace anonymise -o "$work/anonymous.ctf" $trace
"$hg" trace dump "$more_traces/v3-leak-1e-4-stripped.ctf" >"$work/wanted"
check_run 'stripped as memtrace does: read' 0 trace dump "$work/anonymous.ctf"
check_same 'stripped as memtrace does: every event' "$work/out" "$work/wanted"

# Of several domains ids and packets are others; the domains' own events are not.
check_run 'four domains' 0 trace subsample -o "$work/copy.ctf" "$more_traces/v3-leak-1e-3-dom4.ctf"
for view in functions sites; do
	"$hg" trace $view --format csv "$more_traces/v3-leak-1e-3-dom4.ctf" | cut -d , -f 1-5,7 >"$work/wanted"
	"$hg" trace $view --strict --format csv "$work/copy.ctf" | cut -d , -f 1-5,7 >"$work/got"
	check_same "four domains: $view" "$work/got" "$work/wanted"
done
