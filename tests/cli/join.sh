#!/bin/bash
# A core and a trace of memtrace of the same run: against what the program said of its samples
# (tests/ocaml/programs/traced.ml), and with traces that do not go with it.
# shellcheck disable=SC2016 # programs of jq
. tests/cli/lib.sh

core=$work/core
zstd -dqf $fixtures/cores/traced-4.13.1.core.zst -o "$core"
trace=$fixtures/cores/traced-4.13.1.ctf
truth=$fixtures/cores/traced-4.13.1.txt
live=$(sed -n 's/^TRACKED live=//p' $truth)
untold=$(sed -n 's/^SITE at=? blocks=//p' $truth)

# Places: as many blocks at each as the program counted.
sed -nE 's/^SITE at=([^?].*) blocks=(.*)/\1\t\2/p' $truth | sort >"$work/wanted"
check 'the program named places' test "$(wc -l <"$work/wanted")" -ge 6
check_run 'top by location' 0 top --by location --format csv --memtrace $trace "$core"
columns location blocks <"$work/out" | awk -F '\t' '$1 != ""' | sort >"$work/places"
check_same 'top: blocks of each place' "$work/places" "$work/wanted"
check_run 'top by location, compressed' 0 top --by location --format csv --memtrace $trace \
	$fixtures/cores/traced-4.13.1.core.zst
columns location blocks <"$work/out" | awk -F '\t' '$1 != ""' | sort >"$work/places"
check_same 'top: compressed' "$work/places" "$work/wanted"
check_run 'without the trace' 0 top --by location --format csv "$core"
check_equal 'no place is known' "$(columns location <"$work/out")" ''

# The summary.
check_run 'summary' 0 summary --format json --memtrace $trace "$core"
cp "$work/out" "$work/summary.json"
check_equal 'summary: ids, placed, unplaced' \
	"$(jq -r '.join | "\(.ids) \(.placed) \(.unplaced) \(.missing) \(.differing) \(.trace_is_partial)"' \
		"$work/summary.json")" "$live $((live - untold)) $untold 0 0 false"
jq -r '.allocation_sites[] | "\(.location)\t\(.blocks)"' "$work/summary.json" | sort >"$work/places"
check_same 'summary: blocks of each place' "$work/places" "$work/wanted"
check_equal 'summary: the sum of the places' \
	"$(jq '[.allocation_sites[].blocks] | add' "$work/summary.json")" "$(jq .totals.located_blocks "$work/summary.json")"
check_equal 'summary: ordered by what they retain' \
	"$(jq '[.allocation_sites[].retained_bytes] | . == (sort | reverse)' "$work/summary.json")" true
check_equal 'summary: reconciles' "$(jq '[.reconciliation[]] | all' "$work/summary.json")" true

# Blocks, one by one, as another verb lists them.
check_run 'objects' 0 objects --format csv --memtrace $trace "$core"
columns address location bytes retained_bytes root <"$work/out" | awk -F '\t' '$2 != ""' >"$work/blocks"
check_equal 'objects: as many as have a place' "$(wc -l <"$work/blocks")" $((live - untold))
awk -F '\t' '{ bytes[$2] += $3 } END { for (at in bytes) print at "\t" bytes[at] }' "$work/blocks" |
	sort >"$work/wanted"
jq -r '.allocation_sites[] | "\(.location)\t\(.bytes)"' "$work/summary.json" | sort >"$work/places"
check_same 'summary: bytes of each place' "$work/places" "$work/wanted"
awk -F '\t' '$5 != "" { count[$2 "\t" $5]++ } END {
	for (key in count) { split(key, part, "\t"); if (count[key] > most[part[1]]) most[part[1]] = count[key] }
	for (at in most) print at "\t" most[at]
}' "$work/blocks" | sort >"$work/wanted"
jq -r '.allocation_sites[] | select(.holder) | "\(.location)\t\(.holder_blocks)"' "$work/summary.json" |
	sort >"$work/places"
check_same 'summary: blocks that the holder holds' "$work/places" "$work/wanted"
check 'summary: most places have a holder' test "$(wc -l <"$work/places")" -ge 6

# A block, its object id in the trace, and the same call stack, innermost first.
check_stack() {
	local address=$1 id stack
	check_run "object $address" 0 object "$address" --format json --memtrace $trace "$core"
	id=$(jq .object.sample_id "$work/out")
	stack=$(jq -r '[.call_stack[].frame] | join(" < ")' "$work/out")
	"$hg" trace dump $trace | awk -v id="$id" '$2 + 0 == id && $3 == "alloc" { print; exit }' >"$work/event"
	check_equal "object $id: frames" "$(jq '.call_stack | length' "$work/out")" \
		"$(grep -oE '[^ ]+@[^ ]+:[0-9]+:[0-9]+-[0-9]+' "$work/event" | wc -l)"
	check_equal "object $id: the innermost" "$(jq -r '.call_stack[0].frame' "$work/out")" \
		"$(grep -oE '[^ ]+@[^ ]+:[0-9]+:[0-9]+-[0-9]+' "$work/event" | tail -n 1 | tr '@' ' ')"
	check_run "callstack of $id" 0 top --by callstack --format csv --memtrace $trace "$core"
	check "object $id: the stack is a row" grep -qF "$stack" "$work/out"
}
awk -F '\t' '$2 ~ /^(traced|bytes|array)[.]ml/ && !seen[$2]++ { print $1 }' "$work/blocks" >"$work/addresses"
while read -r address; do
	check_stack "$address"
done <"$work/addresses"

# Words for people.
check_run 'text' 0 summary --memtrace $trace "$core"
check 'text: how many' grep -q "^  locations  $trace tells the place of allocation of $((live - untold)) of $live sampled blocks; $untold have none: " "$work/out"
check 'text: the table' grep -qE '^ +sampled +estimated +\+- +retained .* made at +held by$' "$work/out"
check_run 'csv' 0 summary --format csv --memtrace $trace "$core"
check_equal 'csv: values' "$(awk -F , '$1 == "join" && $2 != "trace" { printf "%s=%s ", $2, $3 }' "$work/out")" \
	"ids=$live placed=$((live - untold)) unplaced=$untold missing=0 differing=0 trace_is_partial=0 "

# pids FROM TO FILE: the number of the process of a trace, in each packet.
pids() {
	python3 - "$@" <<'PYTHON'
import struct, sys
old, new, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
bytes = open(name, 'rb').read().replace(struct.pack('<Q', old), struct.pack('<Q', new))
sys.stdout.buffer.write(bytes)
PYTHON
}

pid=$(jq .snapshot.pid "$work/summary.json")
pids "$pid" $((pid + 1)) $trace >"$work/other.ctf"
refuses 'of another process' 3 summary --memtrace "$work/other.ctf" "$core"
check 'both are named' grep -q "process $((pid + 1)), .* process $pid" "$work/err"
leak=$fixtures/memtrace/leak-1e-4.ctf
pids "$("$hg" trace info --format json $leak | jq .trace.pid)" "$pid" $leak >"$work/leak.ctf"
refuses 'of another run' 3 summary --memtrace "$work/leak.ctf" "$core"
check 'of another run: says so' grep -q 'not of this run: of [0-9]* object ids' "$work/err"

# Damaged behind its first packet: what is there counts, which is said; of that one nothing may be missing.
{
	cat $trace
	head -c 1000 $trace
} >"$work/cut.ctf"
run summary --format json --memtrace "$work/cut.ctf" "$core"
check_equal 'damaged: exit code' "$status" 4
check 'damaged: says so' grep -q 'cut.ctf: PARTIAL: the clock steps back' "$work/err"
check_equal 'damaged: what is there' "$(jq -r '.join | "\(.placed) \(.missing) \(.trace_is_partial)"' "$work/out")" \
	"$((live - untold)) 0 true"
head -c 5000 $trace >"$work/cut.ctf"
refuses 'cut short in its first packet' 3 summary --memtrace "$work/cut.ctf" "$core"

refuses 'a series of Spacetime' 2 summary --memtrace $fixtures/spacetime/p1-4.04.2.spacetime.zst "$core"
check 'a series: says so' grep -q 'series of Spacetime' "$work/err"
refuses 'a dump that is no core' 2 summary --memtrace $trace $tiny
refuses 'no trace at all' 3 summary --memtrace "$core" "$core"
refuses 'no such file' 3 summary --memtrace "$work/none" "$core"
zstd -dqf $fixtures/cores/sampled-5.3.0.core.zst -o "$work/sampled"
pids "$pid" "$("$hg" info --format json "$work/sampled" | jq .snapshot.pid)" $trace >"$work/sampled.ctf"
refuses 'call stacks in the core' 3 summary --memtrace "$work/sampled.ctf" "$work/sampled"
check 'call stacks in the core: says so' grep -q 'it needs no trace' "$work/err"
zstd -dqf $fixtures/cores/tiny-4.13.1.core.zst -o "$work/tiny"
pids "$pid" "$("$hg" info --format json "$work/tiny" | jq .snapshot.pid)" $trace >"$work/tiny.ctf"
refuses 'nothing is sampled' 3 summary --memtrace "$work/tiny.ctf" "$work/tiny"
check 'nothing is sampled: says so' grep -q 'keeps no object ids' "$work/err"
refuses 'the trace is read, and not written over' 2 summary --memtrace "$work/other.ctf" -o "$work/other.ctf" "$core"
