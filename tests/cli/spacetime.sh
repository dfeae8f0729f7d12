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

# calls DUMP WHAT ONCE: words or blocks by path of places, outermost first, each place once if so;
# WHAT is end, or live, blocks or total of snapshot 0.
calls() {
	# shellcheck disable=SC2016 # a program of awk
	awk -v what="$2" -v once="$3" '
		$2 ~ /^c?alloc$/ && $3 { trail[$3] = $0; if (what == "end") amount[$3] += $4 }
		$1 == "live" && $2 == 0 && what == "live" { amount[$3] += $5 }
		$1 == "live" && $2 == 0 && what == "blocks" { amount[$3] += $4 }
		$1 == "total" && $2 == 0 && what == "total" { amount[$3] += $4 }
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
						if (slots[j] == "none" || (once && slots[j] in met)) continue
						met[slots[j]]
						path = path (path == "" ? "" : ";") slots[j]
					}
				all[path == "" ? "(no place known)" : path] += amount[annotation]
			}
			for (path in all)
				if (all[path]) print path, all[path]
		}' "$1" | sort
}

# folded NAME SERIES WANTED OPTION...: stacks for flame graphs are these.
folded() {
	local name=$1 file=$2 wanted=$3
	shift 3
	check_run "$name" 0 trace tree --format folded "$@" "$file"
	sort "$work/out" >"$work/got"
	check_same "$name: stacks" "$work/got" "$wanted"
}
for file in "$series"/*.spacetime.zst "$more_series"/*/p[3478].spacetime.zst; do
	[ -f "$file" ] || continue
	name=$(basename "$file" .spacetime.zst)
	"$hg" trace dump "$file" >"$work/dump"
	calls "$work/dump" end 1 >"$work/wanted"
	check "$name: some calls" test -s "$work/wanted"
	folded "$name: folded" "$file" "$work/wanted"
	"$hg" trace tree --limit 0 --format json "$file" >"$work/tree"
	# shellcheck disable=SC2016 # a program of jq
	jq -r 'reduce .rows[] as $row ({path: [], out: []};
			.path = .path[:$row.depth] + [$row.function] |
			if $row.own_bytes > 0 then
				.out += [(.path[1:] | join(";") | if . == "" then
					"(no place known)" else . end) + " " +
					($row.own_bytes / 8 | tostring)]
			else . end) | .out[]' "$work/tree" | sort >"$work/got"
	check_same "$name: the tree of calls" "$work/got" "$work/wanted"
	check_equal "$name: alive in the tree" \
		"$("$hg" trace tree --at 0 --format json "$file" | jq '.rows[0].live_bytes / 8')" \
		"$(awk '$1 == "snapshot" && $2 == 0 { print $NF }' "$work/dump")"

	# From the inside out, what allocates comes first.
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); count = split($0, places, ";"); own[places[count]] += n }
		END { for (place in own) if (place != "(no place known)") print place, own[place] }' \
		"$work/wanted" | sort >"$work/innermost"
	"$hg" trace callers --limit 0 --format json "$file" | jq -r '.rows[] |
		select(.depth == 1 and .allocated_bytes > 0) |
		.function + " " + (.allocated_bytes / 8 | tostring)' | sort >"$work/got"
	check_same "$name: callers" "$work/got" "$work/innermost"
	check_equal "$name: from the allocation outwards, alive" \
		"$("$hg" trace tree --from allocation --at 0 --limit 0 --format json "$file" |
			jq '[.rows[] | select(.depth == 1).live_bytes / 8] | add // 0')" \
		"$(calls "$work/dump" live 1 | awk '!/^\(/ { sum += $NF } END { print sum + 0 }')"

	# What prof_spacetime print gives of snapshot 0, with every frame that has a place.
	case $name in p8*) continue ;; esac
	for what in live blocks total; do
		count=$what
		[ $what = total ] && count=allocated
		calls "$work/dump" $what '' >"$work/wanted"
		folded "$name: all frames, $what" "$file" "$work/wanted" --at 0 --recursion --count $count
	done
	case $name in *4.04.2 | p1nog) continue ;; esac
	[ "$(info "$file" .trace.call_counts)" = true ] || continue
	check_equal "$name: direct calls" \
		"$("$hg" trace tree --count calls --format json "$file" | jq .calls_total)" \
		"$(awk '$2 == "direct" || $2 == "foreign" { sum += $3 } END { print sum + 0 }' "$work/dump")"
	check_equal "$name: indirect calls" \
		"$("$hg" trace tree --count indirect-calls --format json "$file" | jq .calls_total)" \
		"$(awk '$2 == "indirect" { sum += $3 } END { print sum + 0 }' "$work/dump")"
done
check_run 'calls that 4.04 did not count' 2 trace tree --count calls "$series/p1-4.04.2.spacetime.zst"
check_run 'recursion outwards' 2 trace callers --recursion "$whole"
check_run 'the calls of a trace' 2 trace tree --count calls "$fixtures/memtrace/trees-1e-6.ctf"
place=$("$hg" trace top --format json "$whole" | jq -r '.rows[0].location')
check_run 'callers of a place' 0 trace callers --of "$place" "$whole"
check 'callers of a place: it' grep -qF "$place" "$work/out"
check_run 'callers of no place' 2 trace callers --of nowhere.ml:1:2-3 "$whole"

# For other viewers: all that was allocated, and what is alive.
allocated=$(info "$whole" .calls.allocated_bytes)
check_run 'speedscope' 0 trace tree --format speedscope --at 3 "$whole"
check_equal 'speedscope: allocated and alive' "$(jq -c '[.profiles[].endValue]' "$work/out")" \
	"$("$hg" trace top --at 3 --format json "$whole" | jq -c '[.allocated_bytes_total, .live_bytes_total]')"
check_run 'speedscope of all' 0 trace tree --format speedscope "$whole"
check_equal 'speedscope of all: allocated' "$(jq '.profiles[0].endValue' "$work/out")" "$allocated"
check_run 'pprof' 0 trace tree -o "$work/series.pb" "$whole"
if command -v go >/dev/null; then
	go tool pprof -top -unit b -sample_index alloc_space "$work/series.pb" >"$work/top" 2>&1
	check 'go tool pprof: all of it' grep -q "of ${allocated}B total" "$work/top"
else
	skip 'go tool pprof' 'no go'
fi

# Names by the program, wherever it was in memory.
for name in p4 p7; do
	file=$more_series/4.11.1/$name.spacetime.zst
	[ -f "$file" ] || continue
	check_run "$name: its program" 0 trace tree --format folded \
		--exe "$more_series/4.11.1/$name.exe.zst" "$file"
	check "$name: its program: C functions" grep -q '^_start;.*main;.*caml_start_program' "$work/out"
	check_equal "$name: its program: all of it" \
		"$(awk '{ sum += $NF } END { print sum * 8 }' "$work/out")" "$(info "$file" .calls.allocated_bytes)"
done
if [ -f "$more_series/4.11.1/p4.exe.zst" ]; then
	check_run 'another program' 3 trace tree --exe "$more_series/4.11.1/p4.exe.zst" "$whole"
	check 'another program: said' grep -q 'not the program that wrote the series' "$work/err"
fi
check_run 'no program at all' 3 trace tree --exe "$whole" "$whole"
check_run 'the program of a trace' 2 trace sites --exe "$hg" "$fixtures/memtrace/trees-1e-6.ctf"
check_run 'dump of a snapshot' 2 trace dump --at 1 "$whole"
check_run 'samples, that series have not' 2 trace tree --min-samples 3 "$whole"

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
