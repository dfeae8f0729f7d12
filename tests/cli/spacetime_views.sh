#!/bin/bash
# Series of Spacetime over time and by call: trend, hp and calls hold to the text that OCaml's own
# library gives.
# shellcheck disable=SC2016 # programs of awk and jq
. tests/cli/lib.sh

series=$fixtures/spacetime
more_series=${MORE_SERIES:-../shared/data/spacetime}

# truths: each series with what is true of it.
truths() {
	local file
	for file in "$series"/*.truth.zst; do
		echo "${file%.truth.zst}.spacetime.zst $file"
	done
	for file in "$more_series"/*/p{1,3,4,7,8,10,11,1nog}.truth.txt.zst; do
		[ ! -f "$file" ] || echo "${file%.truth.txt.zst}.spacetime.zst $file"
	done
}

# over_time TRUTH: snapshot, whether C allocated, bytes alive, blocks, bytes allocated, place; a place
# is that of the first address of a backtrace that has one.
over_time() {
	zstd -dcq "$1" | awk '
		$1 == "live" { blocks[$3, $2] = $4; live[$3, $2] = $5 }
		$1 == "total" { total[$3, $2] = $4 }
		$1 == "snapshot" { snapshots = $2 + 1 }
		$2 ~ /^c?alloc$/ && $3 { trail[$3] = $0; in_c[$3] = $2 == "calloc" }
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
				for (i = 0; i < snapshots; i++) {
					key = i "\t" in_c[annotation] "\t%d\t%d\t%d\t" name
					a[key] += live[annotation, i]
					b[key] += blocks[annotation, i]
					c[key] += total[annotation, i]
				}
			}
			for (key in a)
				if (a[key] || b[key] || c[key])
					printf key "\n", 8 * a[key], b[key], 8 * c[key]
		}' | sort
}

# growing: from the points of one count (snapshot, name, amount) those that grow by every step.
growing() {
	awk -F '\t' -v snapshots="$1" '
		{ amount[$2, $1] = $3; names[$2]; all[$1] += $3 }
		END {
			whole = all[snapshots - 1] - all[0]
			for (name in names) {
				change[name] = amount[name, snapshots - 1] - amount[name, 0]
				steps = 0
				for (i = 1; i < snapshots; i++)
					steps += amount[name, i] + 0 > amount[name, i - 1] + 0
				up[name] = snapshots > 2 && steps == snapshots - 1 && change[name] >= 4096
				grown += change[name] > 0 ? change[name] : 0
				growing += up[name] ? change[name] : 0
			}
			if (whole <= 0 || whole < growing) whole = grown
			for (name in names)
				if (up[name] && int(change[name] * 10000 / whole) >= 100)
					print name "\t" int(change[name] * 10000 / whole)
		}' | sort
}

while read -r file truth; do
	name=$(basename "$(dirname "$truth")")/$(basename "$truth")
	over_time "$truth" >"$work/truth"
	check_run "$name: trend" 0 trace trend --format csv "$file"
	columns index in_c live_bytes blocks allocated_bytes location <"$work/out" | sort >"$work/got"
	check_same "$name: every place in every snapshot" "$work/got" "$work/truth"
	check "$name: some places" test -s "$work/got"
	snapshots=$(zstd -dcq "$truth" | grep -c '^snapshot')
	for count in live:3 allocated:5; do
		"$hg" trace trend --count ${count%:*} --format csv "$file" |
			columns grows in_c location growth_share |
			awk -F '\t' '$1 { print $2 " " $3 "\t" $4 }' | sort -u >"$work/got"
		awk -F '\t' -v column=${count#*:} '{ print $1 "\t" $2 " " $6 "\t" $column }' "$work/truth" |
			growing "$snapshots" >"$work/wanted"
		check_same "$name: what grows at every step, ${count%:*}" "$work/got" "$work/wanted"
	done
	"$hg" trace trend --format json "$file" >"$work/json"
	check_equal "$name: sums of all snapshots" \
		"$(jq -c '[.rows | group_by(.index)[] | [(map(.live_bytes) | add), (map(.blocks) | add),
			(map(.allocated_bytes) | add)]]' "$work/json")" \
		"$(jq -c '[.snapshots[] | [.live_bytes, .blocks, .allocated_bytes]]' "$work/json")"
	check_equal "$name: sums are those of the snapshots" \
		"$(jq -c '[.snapshots[] | [.live_bytes / 8, .unknown_bytes / 8]]' "$work/json")" \
		"$(zstd -dcq "$truth" | awk '/^snapshot/ { printf "%s[%d,%d]", n++ ? "," : "[", $NF, $(NF - 2) - $NF }
			END { print "]" }')"
done < <(truths)

events=$series/p1-4.08.1.spacetime.zst
check_run 'trend as text' 0 trace trend "$events"
check 'a column has the name of the event before it' grep -q '^ *#0  built the tree  *#2 .* place' "$work/out"
check 'what is built and freed is told' grep -q '1 of 4  .*p1_tree.ml:8:49-59' "$work/out"
check_run 'trend: events of rows' 0 trace trend --format csv "$events"
check_equal 'trend: events of rows' "$(columns index event <"$work/out" | sort -u | tr '\t\n' ' |')" \
	'0 |1 built the tree|2 |3 an event with a time of its own, é|4 |'
check_run 'trend: limit' 0 trace trend --limit 2 --format csv "$events"
check_equal 'trend: limit' "$(columns location in_c <"$work/out" | sort -u | wc -l)" 2
check_run 'trend of blocks' 0 trace trend --count blocks --format json "$events"
check_equal 'trend of blocks: totals' "$(jq -c '[.count, .first_total, .last_total]' "$work/out")" \
	'["blocks",30,29]'
check_run 'trend of calls' 2 trace trend --count calls "$events"
check_run 'trend of a trace' 2 trace trend "$fixtures/memtrace/trees-1e-6.ctf"
zstd -dcq "$events" | head -c 3000 >"$work/cut.spacetime"
check_run 'trend of a series that was cut short' 4 trace trend "$work/cut.spacetime"
check 'trend of a series that was cut short: annotations' grep -q 'annotation [0-9]' "$work/out"

# For hp2ps: what is alive in each snapshot, by place, and what has none.
hp_times() {
	awk '$1 == "MARK" || $1 ~ /_SAMPLE$/ { if ($2 < last) exit 1; last = $2 }' "$1"
}
while read -r file truth; do
	name=$(basename "$(dirname "$truth")")/$(basename "$truth")
	check_run "$name: hp" 0 trace hp "$file"
	over_time "$truth" | awk -F '\t' '$3 {
		sub(/^$/, "(no place known)", $6)
		name = $6 ($2 ? " (in C)" : "")
		gsub(/[^!-~]/, "_", name)
		print $1, name, $3 }' >"$work/wanted"
	zstd -dcq "$truth" | awk '/^snapshot/ && $(NF - 2) > $NF { print $2, "(unknown)", 8 * ($(NF - 2) - $NF) }' \
		>>"$work/wanted"
	sort -o "$work/wanted" "$work/wanted"
	awk '$1 == "BEGIN_SAMPLE" { n++ } /^  / { print n - 2, $1, $2 }' "$work/out" | sort >"$work/got"
	check_same "$name: hp: every place in every sample" "$work/got" "$work/wanted"
	check_equal "$name: hp: marks" "$(grep -c '^MARK' "$work/out" || true)" \
		"$(zstd -dcq "$truth" | grep -c '^event' || true)"
	check "$name: hp: times do not fall" hp_times "$work/out"
	check_run "$name: hp: two places" 0 trace hp --limit 2 "$file"
	check_equal "$name: hp: two places and the others are all" \
		"$(awk '/^  / { sum += $2 } END { print sum + 0 }' "$work/out")" \
		"$(awk '{ sum += $3 } END { print sum + 0 }' "$work/wanted")"
done < <(truths)
check_run 'hp: one file' 0 trace hp -o "$work/series.hp" "$events"
check_equal 'hp: a mark is between its samples, whatever its time' \
	"$(grep -n '^MARK' "$work/series.hp" | cut -d : -f 2 | tr '\n' ' ')" 'MARK 0.793839 MARK 1.014234 '
if command -v hp2ps >/dev/null; then
	check 'hp2ps draws it' sh -c "cd '$work' && hp2ps -c series.hp && test -s series.ps"
else
	skip 'hp2ps draws it' 'no hp2ps'
fi
check_run 'hp of blocks' 0 trace hp --count blocks "$events"
check_equal 'hp of blocks: of the last snapshot' \
	"$(awk '/^BEGIN/ { sum = 0 } /^  / { sum += $2 } END { print sum }' "$work/out")" 29
check_run 'hp: steps of time, that series have not' 2 trace hp --points 9 "$events"
check_run 'hp: blocks of a trace' 2 trace hp --count blocks "$fixtures/memtrace/trees-1e-6.ctf"

# Calls by place and kind: those of all lines of the text; C functions are called by their addresses.
while read -r file truth; do
	name=$(basename "$(dirname "$truth")")/$(basename "$truth")
	zstd -dcq "$truth" >"$work/truth"
	if ! grep -q '^call counts true' "$work/truth"; then
		check_run "$name: calls that were not counted" 2 trace calls "$file"
		continue
	fi
	check_run "$name: calls" 0 trace calls --format json "$file"
	awk '
		$1 == "frame" && $3 != "unknown" {
			text = $0
			sub(/^frame [^ ]* /, "", text)
			count = split(text, slots, "; ")
			for (i = count; i > 0; i--) {
				sub(/ raise$/, "", slots[i])
				if (slots[i] != "none") place[$2] = slots[i]
			}
		}
		$4 == "callee" {
			kind = $2 == "foreign" ? "c 0x" $5 : $2
			key = $7 "\t" kind
			calls[key] += $3
			paths[key]++
		}
		END {
			for (key in calls) {
				split(key, parts, "\t")
				site = parts[1] in place ? place[parts[1]] : "0x" parts[1]
				all[site " " parts[2]] += calls[key]
				ways[site " " parts[2]] += paths[key]
			}
			for (key in all) print key, all[key], ways[key]
		}' "$work/truth" | sort >"$work/wanted"
	jq -r '.rows[] | [.site, .kind, (if .kind == "c" then .callee else "" end), .calls, .paths] | @tsv' \
		"$work/out" | awk -F '\t' '{
			key = $1 " " $2 ($3 == "" ? "" : " ") $3
			calls[key] += $4
			paths[key] += $5
		}
		END { for (key in calls) print key, calls[key], paths[key] }' | sort >"$work/got"
	check_same "$name: calls of every place" "$work/got" "$work/wanted"
	check "$name: some calls" test -s "$work/got"
	check_equal "$name: calls: totals" \
		"$(jq -r '[.direct_calls, .indirect_calls, .c_calls, (.rows | map(.calls) | add)] | join(" ")' "$work/out")" \
		"$(awk '$4 == "callee" { sum[$2] += $3; all += $3 }
			END { print sum["direct"] + 0, sum["indirect"] + 0, sum["foreign"] + 0, all }' "$work/truth")"
	check_equal "$name: calls: as many edges as there are" \
		"$(jq '.paths_total + .paths_by_c' "$work/out")" \
		"$("$hg" trace info --format json "$file" | jq .calls.edges)"
done < <(truths)
file=$more_series/4.11.1/p4.spacetime.zst
if [ -f "$file" ]; then
	# As the source of p4 says: a hundred strings of numbers in a list that List.init makes.
	check_run 'calls: named by the program' 0 trace calls --limit 0 --format csv \
		--exe "$more_series/4.11.1/p4.exe.zst" "$file"
	columns calls kind site callee <"$work/out" >"$work/got"
	for row in '100	c	stdlib.ml:261:2-19	caml_format_int' \
		'100	direct	p4_c.ml:21:76-91	string_of_int' \
		'100	direct	list.ml:70:9-27	List.init_aux' \
		'120	direct	stdlib.ml:296:22-31	@'; do
		check "calls: named by the program: ${row##*	}" grep -qxF "$row" "$work/got"
	done
	check_run 'calls: without the program' 0 trace calls "$file"
	check 'calls: without the program' grep -q '100 .* direct .* list.ml:70:9-27  *function at list.ml:69$' "$work/out"
fi
check_run 'calls of a series that was cut short' 3 trace calls "$work/cut.spacetime"
check_run 'calls of a trace' 2 trace calls "$fixtures/memtrace/trees-1e-6.ctf"

# With the program, the C functions that allocate: what a place has is that of its rows.
if [ -f "$file" ]; then
	check_run 'top: C functions' 0 trace top --limit 0 --format csv --exe "$more_series/4.11.1/p4.exe.zst" "$file"
	columns location c_function live_bytes blocks <"$work/out" >"$work/got"
	check 'top: C functions: of pairs' grep -qxF 'p4_c.ml:14:7-19	p4_pairs	32000	1500' "$work/got"
	check 'top: C functions: of an array' grep -qxF 'p4_c.ml:19:7-28	caml_make_vect	8008	1' "$work/got"
	columns location in_c live_bytes allocated_bytes <"$work/out" | awk -F '\t' '
		{ a[$1 " " $2] += $3; b[$1 " " $2] += $4 } END { for (i in a) print i, a[i], b[i] }' | sort >"$work/got"
	"$hg" trace top --limit 0 --format csv "$file" |
		columns location in_c live_bytes allocated_bytes | tr '\t' ' ' | sort >"$work/wanted"
	check_same 'top: C functions: sums of places' "$work/got" "$work/wanted"
fi
