#!/bin/bash
# Series of Spacetime: every snapshot, call and place as OCaml's own library reads them; cut short.
. tests/cli/lib.sh

series=$fixtures/spacetime
more_series=${MORE_SERIES:-../shared/data/spacetime}

# dump_equals NAME SERIES TRUTH: what a program says that reads it with OCaml's raw_spacetime_lib.
dump_equals() {
	check_run "$1" 0 trace dump "$2"
	zstd -dcq "$3" >"$work/wanted"
	check_same "$1: the same text" "$work/out" "$work/wanted"
}
for truth in "$series"/*.truth.zst; do
	file=${truth%.truth.zst}
	dump_equals "dump of $(basename "$file")" "$file.spacetime.zst" "$truth"
	check_run "strict dump of $(basename "$file")" 0 trace dump --strict "$file.spacetime.zst"
done
for truth in "$more_series"/*/*.truth.txt.zst; do
	[ -f "$truth" ] || continue
	file=${truth%.truth.txt.zst}
	dump_equals "dump of ${file#"$more_series"/}" "$file.spacetime.zst" "$truth"
done

# info FILE FILTER: a value of what it says of a series.
info() {
	"$hg" trace info --format json "$1" | jq -r "$2"
}
for file in "$series"/*.spacetime.zst; do
	name=$(basename "$file" .spacetime.zst)
	"$hg" trace dump "$file" >"$work/dump"
	check_equal "$name: snapshots" "$(info "$file" .trace.snapshots)" \
		"$(grep -c '^snapshot' "$work/dump")"
	check_equal "$name: events" "$(info "$file" .trace.events)" \
		"$(grep -c '^event' "$work/dump" || true)"
	check_equal "$name: nodes" "$(info "$file" .calls.nodes)" \
		"$(grep -c ' node ' "$work/dump")"
	check_equal "$name: calls" "$(info "$file" .calls.edges)" \
		"$(sed -n 's/^sum allocs.*calls //p' "$work/dump")"
	check_equal "$name: words allocated" "$(($(info "$file" .calls.allocated_bytes) / 8))" \
		"$(awk '/ c?alloc / { sum += $4 } END { printf "%.0f", sum }' "$work/dump")"
	check_equal "$name: words alive" \
		"$(info "$file" '[.moments[] | select(.live_bytes) | .live_bytes / 8] | @text')" \
		"$(awk '/^snapshot/ { printf "%s%s", n++ ? "," : "[", $NF } END { print "]" }' "$work/dump")"
	check_equal "$name: no number contradicts another" "$(info "$file" .losses.contradictions)" 0
done
check_equal '4.04' "$(info "$series/p1-4.04.2.spacetime.zst" .trace.compiler)" 'OCaml 4.04 or 4.05'
check_equal '4.06' "$(info "$series/p1-4.06.1.spacetime.zst" .trace.compiler)" 'OCaml 4.06 or 4.07'
check_equal '4.08' "$(info "$series/p1-4.08.1.spacetime.zst" .trace.compiler)" 'OCaml 4.08 to 4.11'
check_equal '4.11' "$(info "$series/p12-4.11.1.spacetime.zst" .trace.compiler)" 'OCaml 4.08 to 4.11'
# A compaction drops the annotation of closures of several functions: 7,000 words.
check_equal 'after a compaction' \
	"$(info "$series/p12-4.11.1.spacetime.zst" '.moments[1].unknown_bytes')" 56000

whole=$work/whole.spacetime
zstd -dcq "$series/p1-4.08.1.spacetime.zst" >"$whole"
check_run 'info of any file' 0 info "$whole"
check 'info of any file: snapshots' grep -q 'Snapshots and events' "$work/out"
check_run 'summary' 0 summary "$whole"
check_run 'without a verb' 0 "$whole"
check 'without a verb: an event' grep -q 'built the tree' "$work/out"

# Cut anywhere: what is whole is shown.
: >"$work/empty.spacetime"
check_run 'a file of 0 bytes' 3 trace info "$work/empty.spacetime"
check 'a file of 0 bytes: why' grep -q 'killed' "$work/err"
head -c 25 "$whole" >"$work/cut.spacetime"
check_run 'a mark cut short' 3 trace info "$work/cut.spacetime"
head -c 3000 "$whole" >"$work/cut.spacetime"
check_run 'a snapshot cut short' 4 trace info "$work/cut.spacetime"
check 'a snapshot cut short: said' grep -q 'PARTIAL: the file ends within this part, at offset' "$work/err"
check_run 'a snapshot cut short: dump' 4 trace dump "$work/cut.spacetime"
check 'a snapshot cut short: the others' grep -q '^live 0 ' "$work/out"
check_run 'a snapshot cut short, strict' 3 trace info --strict "$work/cut.spacetime"
{ cat "$whole" && echo; } >"$work/longer.spacetime"
check_run 'bytes behind the end' 4 trace info "$work/longer.spacetime"
printf '\003' | dd of="$work/longer.spacetime" bs=1 seek=22 conv=notrunc 2>/dev/null
check_run 'features that are not known' 3 trace info "$work/longer.spacetime"
mkfifo "$work/fifo"
check_run 'a FIFO' 3 trace dump "$work/fifo"
check_run 'a question for traces alone' 2 trace hotspots "$whole"
check_run 'a filter for traces alone' 2 trace dump --on minor "$whole"
