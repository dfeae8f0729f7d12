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

# places DUMP SNAPSHOT: words alive by place, from the text of the dump: the place of a point is that
# of the first address of its backtrace that has one.
places() {
	# shellcheck disable=SC2016 # a program of awk
	awk -v snapshot="$2" '
		$1 == "live" && $2 == snapshot { live[$3] = $5 }
		$1 == "total" && $2 == snapshot { total[$3] = $4 }
		$2 ~ /^c?alloc$/ { trail[$3] = $0; end[$3] += $4; in_c[$3] = $2 == "calloc" }
		$1 == "frame" && $3 != "unknown" {
			text = $0
			sub(/^frame [^ ]* /, "", text)
			count = split(text, slots, "; ")
			for (i = count; i > 0; i--) {
				sub(/ raise$/, "", slots[i])
				if (slots[i] != "none") place[$2] = slots[i]
			}
		}
		END {
			for (annotation in trail) {
				sub(/^[^:]* : /, "", trail[annotation])
				count = split(trail[annotation], pcs, " ")
				name = ""
				for (i = 1; i <= count && name == ""; i++) name = place[pcs[i]]
				name = name " " in_c[annotation]
				words[name] += live[annotation]
				allocated[name] += total[annotation]
				ever[name] += end[annotation]
			}
			for (name in words)
				if (ever[name])
					print name, 8 * words[name], 8 * allocated[name], 8 * ever[name]
		}' "$1" | sort
}

# top_equals NAME SERIES SNAPSHOT: the rows are those of the text.
top_equals() {
	"$hg" trace dump "$2" >"$work/dump"
	places "$work/dump" "$3" >"$work/wanted"
	"$hg" trace top --at "$3" --limit 0 --format json "$2" | jq -r '.rows[] |
		select(.ever_allocated_bytes > 0) | [.location, (if .in_c then 1 else 0 end),
		.live_bytes, .allocated_bytes, .ever_allocated_bytes] | join(" ")' | sort >"$work/got"
	check_same "$1: places at snapshot $3" "$work/got" "$work/wanted"
	check "$1: places" test -s "$work/got"
}
for file in "$series"/*.spacetime.zst "$more_series"/*/p[348].spacetime.zst; do
	[ -f "$file" ] || continue
	for snapshot in 0 1; do
		top_equals "$(basename "$file" .spacetime.zst)" "$file" "$snapshot"
	done
done

# calls DUMP: bytes allocated by path of places, outermost first, each place once.
calls() {
	# shellcheck disable=SC2016 # a program of awk
	awk '
		$2 ~ /^c?alloc$/ && $3 { trail[$3] = $0; end[$3] += $4 }
		$1 == "frame" && $3 != "unknown" {
			slots_of[$2] = $0
			sub(/^frame [^ ]* /, "", slots_of[$2])
		}
		END {
			for (annotation in trail) {
				path = ""
				split("", met)
				sub(/^[^:]* : /, "", trail[annotation])
				for (i = split(trail[annotation], pcs, " "); i > 0; i--)
					for (j = split(slots_of[pcs[i]], slots, "; "); j > 0; j--) {
						sub(/ raise$/, "", slots[j])
						if (slots[j] == "none" || slots[j] in met) continue
						met[slots[j]]
						path = path ";" slots[j]
					}
				all[path] += end[annotation]
			}
			for (path in all)
				if (all[path]) print path, 8 * all[path]
		}' "$1" | sort
}
for file in "$series"/*.spacetime.zst "$more_series"/*/p[3478].spacetime.zst; do
	[ -f "$file" ] || continue
	name=$(basename "$file" .spacetime.zst)
	"$hg" trace dump "$file" >"$work/dump"
	calls "$work/dump" >"$work/wanted"
	"$hg" trace tree --at 0 --limit 0 --format json "$file" >"$work/tree"
	# shellcheck disable=SC2016 # a program of jq
	jq -r 'reduce .rows[] as $row ({path: [], out: []};
			.path = .path[:$row.depth] + [$row.function] |
			if $row.own_bytes > 0 then
				.out += [(.path | join(";")) + " " + ($row.own_bytes | tostring)]
			else . end) | .out[]' "$work/tree" | sort >"$work/got"
	check_same "$name: the tree of calls" "$work/got" "$work/wanted"
	check "$name: some calls" test -s "$work/got"
	check_equal "$name: alive in the tree" "$(jq '.rows[0].live_bytes / 8' "$work/tree")" \
		"$(awk '$1 == "snapshot" && $2 == 0 { print $NF }' "$work/dump")"
	check_equal "$name: blocks in the tree" "$(jq '.rows[0].blocks' "$work/tree")" \
		"$(awk '$1 == "live" && $2 == 0 { sum += $4 } END { print sum + 0 }' "$work/dump")"
done
check_run 'dump of a snapshot' 2 trace dump --at 1 "$whole"
check_run 'samples, that series have not' 2 trace tree --min-samples 3 "$whole"
check_run 'callers, that series have not' 2 trace tree --from allocation "$whole"

# at CHOICE: the snapshot that it chooses.
at() {
	"$hg" trace top --at "$1" --format json "$series/p1-4.08.1.spacetime.zst" | jq .snapshot
}
check_equal 'the last snapshot' "$(at end)" 4
check_equal 'the one with the most memory' "$(at peak)" 3
check_equal 'the one after an event' "$(at 'built the tree')" 1
check_equal 'by number' "$(at 2)" 2
check_run 'no such snapshot' 2 trace top --at 5 "$series/p1-4.08.1.spacetime.zst"
check_run 'no such event' 2 trace top --at never "$series/p1-4.08.1.spacetime.zst"
check_run 'sites, too' 0 trace sites --at 2 "$series/p1-4.08.1.spacetime.zst"
check 'sites, too: snapshot 2' grep -q 'alive in snapshot 2' "$work/out"
check_run 'top of a trace' 2 trace top "$fixtures/memtrace/trees-1e-6.ctf"

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
check_run 'a snapshot cut short: places' 4 trace top "$work/cut.spacetime"
check 'a snapshot cut short: annotations' grep -q 'annotation' "$work/out"
check_run 'a snapshot cut short, strict' 3 trace info --strict "$work/cut.spacetime"
{ cat "$whole" && echo; } >"$work/longer.spacetime"
check_run 'bytes behind the end' 4 trace info "$work/longer.spacetime"
printf '\003' | dd of="$work/longer.spacetime" bs=1 seek=22 conv=notrunc 2>/dev/null
check_run 'features that are not known' 3 trace info "$work/longer.spacetime"
mkfifo "$work/fifo"
check_run 'a FIFO' 3 trace dump "$work/fifo"
check_run 'a question for traces alone' 2 trace hotspots "$whole"
check_run 'a filter for traces alone' 2 trace dump --on minor "$whole"
