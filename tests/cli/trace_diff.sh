#!/bin/bash
# What changed between two traces, or series: against sums over the events of their dumps.
# shellcheck disable=SC2016 # programs of awk
. tests/cli/lib.sh

leak=$fixtures/memtrace/leak-1e-4.ctf
trees=$fixtures/memtrace/trees-1e-6.ctf
series=$fixtures/spacetime
more_traces=${MORE_TRACES:-../shared/data/memtrace}
more_series=${MORE_SERIES:-../shared/data/spacetime}

# sums KEY DUMP: of each location, function, file or path of functions of a dump "NAME TAB
# allocated TAB alive at the end TAB alive at the first peak TAB promoted", in samples.
sums() {
	awk -v OFS='\t' -v key="$1" '
		# The names that a stack counts for.
		function names_of(stack,    n, slot, i, path, met) {
			split("", names)
			n = split(stack, slot, " ")
			if (key == "location") names[slot[n]]
			if (key == "file") {
				file = slot[n] ~ /@/ ? slot[n] : ""
				sub(/.*@/, "", file)
				sub(/:[0-9]*:[0-9]*-[0-9]*$/, "", file)
				names[file]
			}
			for (i = 1; i <= n && (key == "function" || key == "tree"); i++) {
				if (!sub(/@[^@]*$/, "", slot[i]) || slot[i] in met) continue
				met[slot[i]]
				path = path == "" ? slot[i] : path ";" slot[i]
				names[key == "tree" ? path : slot[i]]
			}
			if (key == "function" && path == "") names[""]
		}
		$3 ~ /^alloc/ {
			samples[$2] = $4
			stack_of[$2] = substr($0, index($0, ": ") + 2)
			live += $4
			if (live > most) { most = live; peak = NR }
			born[$2] = NR
		}
		$3 == "promote" { promoted[$2] = 1 }
		$3 == "collect" { live -= samples[$2]; gone[$2] = NR }
		END {
			for (id in samples) {
				names_of(stack_of[id])
				for (name in names) {
					all[name] += samples[id]
					if (!(id in gone)) alive[name] += samples[id]
					if (born[id] <= peak && (!(id in gone) || gone[id] > peak)) at_peak[name] += samples[id]
					if (id in promoted) old[name] += samples[id]
				}
			}
			for (name in all) print name, all[name], alive[name] + 0, at_peak[name] + 0, old[name] + 0
		}' "$2"
}

# differences RATE1 SUMS1 RATE2 SUMS2: rows of the table for programs, in any order.
differences() {
	awk -F '\t' -v OFS='\t' -v r1="$1" -v r2="$3" '
		NR == FNR { for (i = 2; i <= 5; i++) before[$1, i] = $i; names[$1]; next }
		{ for (i = 2; i <= 5; i++) after[$1, i] = $i; names[$1] }
		END {
			for (name in names) {
				row = name OFS before[name, 2] + 0 OFS after[name, 2] + 0
				changed = 0
				for (i = 2; i <= 5; i++) {
					n1 = before[name, i] + 0
					n2 = after[name, i] + 0
					old = 8 * n1 / r1
					new = 8 * n2 / r2
					error = 8 * sqrt(n1 * (1 - r1) / r1 ^ 2 + n2 * (1 - r2) / r2 ^ 2)
					chance = 8 * sqrt((n1 + n2) / (r1 + r2) * ((1 - r1) / r1 + (1 - r2) / r2))
					if (chance < error) chance = error
					row = row sprintf("\t%.0f\t%.0f\t%.0f\t%.0f", old, new, new - old, error)
					if (sprintf("%.0f", old) != sprintf("%.0f", new)) changed = 1
					if (i == 2) beyond = (new - old > 2.0000001 * chance || old - new > 2.0000001 * chance)
				}
				if (changed) print row, beyond + 0
			}
		}' "$2" "$4" | LC_ALL=C sort
}

measures=(samples_old samples_new)
for measure in bytes live_bytes peak_bytes promoted_bytes; do
	measures+=("${measure}_old" "${measure}_new" "${measure}_delta" "${measure}_error")
done

# traces_differ NAME RATE1 OLD RATE2 NEW: by each key, every figure is that of the events.
traces_differ() {
	local name=$1 rate1=$2 old=$3 rate2=$4 new=$5 key
	"$hg" trace dump "$old" >"$work/old.dump"
	"$hg" trace dump "$new" >"$work/new.dump"
	for key in location function file; do
		sums $key "$work/old.dump" >"$work/before"
		sums $key "$work/new.dump" >"$work/after"
		differences "$rate1" "$work/before" "$rate2" "$work/after" >"$work/wanted"
		check_run "$name: by $key" 0 trace diff --by $key --format csv "$old" "$new"
		columns $key "${measures[@]}" beyond_noise <"$work/out" | LC_ALL=C sort >"$work/got"
		check "$name: by $key: some rows" test -s "$work/got"
		check_same "$name: by $key: as the events say" "$work/got" "$work/wanted"
	done
	sums tree "$work/old.dump" >"$work/before"
	sums tree "$work/new.dump" >"$work/after"
	differences "$rate1" "$work/before" "$rate2" "$work/after" >"$work/wanted"
	check_run "$name: by tree" 0 trace diff --by tree --format csv "$old" "$new"
	columns depth function "${measures[@]}" beyond_noise <"$work/out" | awk -F '\t' -v OFS='\t' '
		$1 > 0 {
			path[$1] = $1 > 1 ? path[$1 - 1] ";" $2 : $2
			row = $0
			sub(/^[^\t]*\t[^\t]*/, "", row)
			print path[$1] row
		}' | LC_ALL=C sort >"$work/got"
	check_same "$name: by tree: as the events say" "$work/got" "$work/wanted"
}

check_run 'a sample of a trace' 0 trace subsample --one-in 4 --seed 1 -o "$work/quarter.ctf" $leak
check_run 'half of a trace' 0 trace subsample --one-in 2 --seed 1 -o "$work/half.ctf" $leak
check_run 'another half' 0 trace subsample --one-in 2 --seed 2 -o "$work/other.ctf" $leak
traces_differ 'a trace and a sample of it' 0.0001 $leak 0.000025 "$work/quarter.ctf"
traces_differ 'two halves of it' 0.00005 "$work/half.ctf" 0.00005 "$work/other.ctf"
if [ -f "$more_traces/json-1e-3.ctf" ]; then
	traces_differ 'two programs' 0.001 "$more_traces/json-1e-3.ctf" 0.001 "$more_traces/maps-1e-3.ctf"
fi

# What sampling alone changes is noise, in most of the rows and in all.
for pair in "$leak $work/quarter.ctf" "$work/half.ctf $work/other.ctf"; do
	# shellcheck disable=SC2086 # two files
	check_run "noise: ${pair##*/}" 0 trace diff --format json --by function $pair
	check "noise: ${pair##*/}: most rows are within it" jq -e '(.rows | length) > 9 and
		([.rows[] | select(.beyond_noise)] | length) * 10 <= (.rows | length)' "$work/out"
	check "noise: ${pair##*/}: the totals, within 4 errors" jq -e '.totals |
		(.bytes_new - .bytes_old | fabs) < 4 * .bytes_error and .bytes_error > 0' "$work/out"
done

# Rows and totals of the two traces, as other verbs have them.
check_run 'totals' 0 trace diff --format json $trees $leak
"$hg" trace info --format json $leak >"$work/info"
check_equal 'totals: of the new one' \
	"$(jq -c '[.totals.samples_new, .totals.bytes_new, .totals.peak_bytes_new, .totals.live_bytes_new, .new_trace.end_us, .new_trace.rate]' "$work/out")" \
	"$(jq -c '[.totals.samples, (.totals.samples, .totals.peak_samples, .totals.live_samples) * 80000] +
		[.totals.end_us, .trace.rate]' "$work/info")"
check 'totals: rows add up' jq -e '([.rows[].samples_new] | add) == .totals.samples_new and
	([.rows[].samples_old] | add) == .totals.samples_old and .rows_same == 0 and
	.rows_total == (.rows | length) and .totals.samples_old > 0' "$work/out"
check 'order: by how much changed' jq -e '[.rows[].bytes_delta | fabs] | . == (sort | reverse)' "$work/out"

# Other counts order the rows, and say what is noise.
for count in live peak promoted; do
	check_run "--count $count" 0 trace diff --format json --count $count "$work/half.ctf" "$work/other.ctf"
	check "--count $count: order and noise" jq -e --arg delta ${count}_bytes_delta --arg error ${count}_bytes_error '
		([.rows[][$delta] | fabs] | . == (sort | reverse)) and
		all(.rows[]; .beyond_noise == ((.[$delta] | fabs) > 2 * .[$error] + 2) or
			.beyond_noise == ((.[$delta] | fabs) > 2 * .[$error] - 2))' "$work/out"
done
check_run 'text' 0 trace diff $trees $leak
check 'text: the totals' grep -qE '^  allocated +[0-9.]+ [KM]B -> 871.8 MB \(\+[0-9.]+ MB \+- ' "$work/out"
check 'text: what is new' grep -qE ' new .* Dune__exe__Leak.lookup@leak.ml:14:54-98$' "$work/out"
check 'text: what is gone' grep -q ' gone ' "$work/out"
check_run 'text: largest first' 0 trace diff --limit 3 $trees $leak
check 'text: the rest is said' grep -qE '^  \([0-9]+ more locations; --limit 0 shows all\)$' "$work/out"
check_run 'text: by what is alive' 0 trace diff --count live $trees $leak
check 'text: by what is alive: columns' grep -qE '^ +live at end +change +\+- +allocated +change +\+- +location$' "$work/out"

# A tree that is cut is a tree: every row but the first has one above it.
check_run 'tree: the largest' 0 trace diff --by tree --limit 12 --format csv $trees $leak
check_equal 'tree: so many' "$(wc -l <"$work/out")" 13
columns depth <"$work/out" >"$work/depths"
check 'tree: every row has the one above it' awk 'NR == 1 ? $1 != 0 : $1 > last + 1 || $1 < 1 { exit 1 } { last = $1 }' "$work/depths"
check_run 'tree: --min' 0 trace diff --by tree --min 50M --format json $trees $leak
check 'tree: --min: only large ones' jq -e '(.rows | length) > 2 and
	all(.rows[]; (.bytes_delta | fabs) >= 50 * 1048576)' "$work/out"

# Nothing has changed.
for key in location function file tree; do
	check_run "a trace with itself, by $key" 0 trace diff --by $key --format json $leak $leak
	check "a trace with itself, by $key: no rows" jq -e '.rows == [] and .rows_total == 0 and .rows_same > 1 and
		.totals.bytes_old == .totals.bytes_new' "$work/out"
done
check_run 'a trace with itself: text' 0 trace diff $leak $leak
check 'a trace with itself: said' grep -q '^No difference by location\.$' "$work/out"

# What counts, counts in both.
check_run 'filters' 0 trace diff --inside Dune__exe__Leak.lookup --format json $leak "$work/half.ctf"
check_equal 'filters: of the old one' "$(jq .totals.samples_old "$work/out")" \
	"$("$hg" trace sites --inside Dune__exe__Leak.lookup --format json $leak | jq .samples_total)"
check_equal 'filters: of the new one' "$(jq .totals.samples_new "$work/out")" \
	"$("$hg" trace sites --inside Dune__exe__Leak.lookup --format json "$work/half.ctf" | jq .samples_total)"

# places TRUTH KEY SNAPSHOT: of each place or file "NAME TAB allocated TAB live TAB blocks" in words;
# SNAPSHOT is a number, or end: then what is allocated in the whole run, and alive in the last.
places() {
	zstd -dcq "$1" | awk -v OFS='\t' -v key="$2" -v at="$3" '
		$1 == "snapshot" { last = $2 }
		$1 == "live" { live[$2, $3] += $5; blocks[$2, $3] += $4 }
		$1 == "total" { total[$2, $3] += $4 }
		$2 ~ /^c?alloc$/ { trail[$3] = $0; ever[$3] += $4 }
		$1 == "frame" && $3 != "unknown" {
			text = $0
			sub(/^frame [^ ]* /, "", text)
			for (i = split(text, slots, "; "); i > 0; i--) {
				sub(/ raise$/, "", slots[i])
				if (slots[i] != "none") place[$2] = slots[i]
			}
		}
		END {
			snapshot = at == "end" ? last : at
			for (point in trail) {
				sub(/^[^:]* : /, "", trail[point])
				count = split(trail[point], pcs, " ")
				name = ""
				for (i = 1; i <= count && name == ""; i++) name = place[pcs[i]]
				if (key == "file") sub(/:[0-9]*:[0-9]*-[0-9]*$/, "", name)
				allocated[name] += at == "end" ? ever[point] : total[snapshot, point]
				alive[name] += live[snapshot, point]
				count_of[name] += blocks[snapshot, point]
			}
			for (name in allocated) print name, allocated[name], alive[name] + 0, count_of[name] + 0
		}'
}

# series_differ NAME OLD NEW TRUTH1 TRUTH2: rows are those of what another reader printed.
series_differ() {
	local name=$1 old=$2 new=$3 key at
	for key in location file; do
		for at in end 1; do
			places "$4" $key $at >"$work/before"
			places "$5" $key $at >"$work/after"
			awk -F '\t' -v OFS='\t' '
				NR == FNR { for (i = 2; i <= 4; i++) before[$1, i] = $i; names[$1]; next }
				{ for (i = 2; i <= 4; i++) after[$1, i] = $i; names[$1] }
				END {
					for (name in names) {
						row = name
						changed = 0
						for (i = 2; i <= 4; i++) {
							unit = i < 4 ? 8 : 1
							old = unit * before[name, i]
							new = unit * after[name, i]
							row = row OFS old OFS new OFS new - old
							changed += old != new
						}
						if (changed) print row
					}
				}' "$work/before" "$work/after" | LC_ALL=C sort >"$work/wanted"
			check_run "$name: by $key at $at" 0 trace diff --by $key --at $at --format csv "$old" "$new"
			columns $key allocated_bytes_{old,new,delta} live_bytes_{old,new,delta} blocks_{old,new,delta} \
				<"$work/out" | LC_ALL=C sort >"$work/got"
			check "$name: by $key at $at: some rows" test -s "$work/got"
			check_same "$name: by $key at $at: as another reader says" "$work/got" "$work/wanted"
		done
	done
}
first=$series/p1-4.04.2
second=$series/p12-4.11.1
series_differ '4.04 and 4.11' "$first.spacetime.zst" "$second.spacetime.zst" "$first.truth.zst" "$second.truth.zst"
series_differ '4.04 and 4.08' "$first.spacetime.zst" "$series/p1-4.08.1.spacetime.zst" \
	"$first.truth.zst" "$series/p1-4.08.1.truth.zst"
for version in 4.04.2 4.06.1; do
	[ -f "$more_series/$version/p1.spacetime.zst" ] || continue
	series_differ "p1 of $version and 4.11" "$more_series/$version/p1.spacetime.zst" \
		"$more_series/4.11.1/p1.spacetime.zst" "$more_series/$version/p1.truth.txt.zst" \
		"$more_series/4.11.1/p1.truth.txt.zst"
done

# As the tree of each has them: all nodes of both that differ.
tree_of() {
	"$hg" trace tree --limit 0 --format csv "$1" | columns depth function allocated_bytes live_bytes blocks |
		awk -F '\t' -v OFS='\t' '{ path[$1] = $1 ? path[$1 - 1] ";" $2 : $2; print path[$1], $3, $4, $5 }'
}
old=$first.spacetime.zst
new=$series/p1-4.08.1.spacetime.zst
tree_of "$old" >"$work/before"
tree_of "$new" >"$work/after"
check_run 'series: by tree' 0 trace diff --by tree --count live --format csv "$old" "$new"
columns depth function allocated_bytes_{old,new} live_bytes_{old,new} blocks_{old,new} <"$work/out" |
	awk -F '\t' -v OFS='\t' '{ path[$1] = $1 ? path[$1 - 1] ";" $2 : $2; print path[$1], $3, $5, $7, $4, $6, $8 }' >"$work/rows"
check 'series: by tree: some rows' test "$(wc -l <"$work/rows")" -gt 20
check 'series: by tree: as the trees say' awk -F '\t' '
	FILENAME == ARGV[1] { before[$1] = $2 FS $3 FS $4; next }
	FILENAME == ARGV[2] { after[$1] = $2 FS $3 FS $4; next }
	{
		one = $1 in before ? before[$1] : 0 FS 0 FS 0
		other = $1 in after ? after[$1] : 0 FS 0 FS 0
		if ($2 FS $3 FS $4 != one || $5 FS $6 FS $7 != other) exit 1
	}' "$work/before" "$work/after" "$work/rows"
check_run 'series: blocks' 0 trace diff --count blocks --format json "$old" "$second.spacetime.zst"
check 'series: blocks: order' jq -e '[.rows[].blocks_delta | fabs] | length > 9 and . == (sort | reverse)' "$work/out"
check 'series: blocks: rows add up' jq -e '([.rows[].blocks_delta] | add) == .totals.blocks_new - .totals.blocks_old' "$work/out"
check_run 'series: text' 0 trace diff --at last "$old" "$second.spacetime.zst"
check 'series: text: snapshots' grep -qE '^  length +[0-9.]+ -> [0-9.]+ CPU s; live in snapshot 4 -> ' "$work/out"
check_run 'series: an event that one of them has not' 2 trace diff --at 'built the tree' "$old" "$second.spacetime.zst"
check_run 'series: with itself' 0 trace diff "$old" "$old"
check 'series: with itself: said' grep -q '^No difference by location\.$' "$work/out"

# What cannot be compared.
refuses 'a trace and a series' 2 trace diff $leak "$old"
refuses 'a series and a trace' 2 trace diff "$old" $leak
refuses 'functions of series' 2 trace diff --by function "$old" "$new"
refuses 'a peak of series' 2 trace diff --count peak "$old" "$new"
refuses 'blocks of traces' 2 trace diff --count blocks $leak $trees
refuses 'filters of series' 2 trace diff --on minor "$old" "$new"
refuses 'a program of traces' 2 trace diff --exe "$hg" $leak $trees
refuses 'three programs' 2 trace diff --exe a --exe b --exe c "$old" "$new"
refuses 'one trace alone' 2 trace diff $leak
refuses 'no such snapshot' 2 trace diff --at 77 "$old" "$new"
refuses 'a file that is not there' 3 trace diff $leak "$work/nothing.ctf"
cp $leak "$work/narrow.ctf"
# The bits of a word stand behind the header, the event's header and the rate.
printf '\040' | dd of="$work/narrow.ctf" bs=1 seek=78 conv=notrunc 2>/dev/null
refuses 'words of two sizes' 2 trace diff $leak "$work/narrow.ctf"
zstd -dcq "$new" | head -c 3000 >"$work/cut.spacetime"
refuses 'a series without places' 3 offset trace diff "$old" "$work/cut.spacetime"

# Damage is said of each file, once.
head -c 100000 $leak >"$work/cut.ctf"
head -c 150000 $leak >"$work/longer.ctf"
check_run 'damaged: both' 4 trace diff "$work/cut.ctf" "$work/longer.ctf"
check_equal 'damaged: both: said' "$(grep -c 'PARTIAL' "$work/err")" 2
check 'damaged: the old one' grep -q "$work/cut.ctf: PARTIAL" "$work/err"
check 'damaged: the new one' grep -q "$work/longer.ctf: PARTIAL" "$work/err"
check_run 'damaged: one' 4 trace diff $leak "$work/longer.ctf"
check_equal 'damaged: one: said' "$(wc -l <"$work/err")" 1
refuses 'damaged: strict' 3 trace diff --strict $leak "$work/longer.ctf"
