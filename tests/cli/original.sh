#!/bin/bash
# Blocks of each location equal those that the original profiler of OCamlmemprof 0.1 counted, and
# everything that it lost through its bugs is there.  expected/orig-A and orig-B hold its outputs:
# A with the types of the program alone, B also with those of the standard library.
#
# The original knows an id only if the table has it as it is; those with the lost bit 21 are added
# here.  So for each location: heapgraph = original + ids found by restoring the bit.
# shellcheck disable=SC2016 # conditions of awk
. tests/cli/lib.sh

# original FILE: 'location count' of each location and '[label] count' of each fixed label in the
# first sample.  Types wider than a line are broken in two by the original; they are joined again.
original() {
	awk '
	function flush() {
		if (record == "") return
		n = split(record, part, " ")
		count = part[n]
		sub(/ [0-9]+$/, "", record)
		if (match(record, /::[^:]*\[[0-9]+\]\[[0-9]+-[0-9]+\]$/)) {
			place = substr(record, RSTART + 2)
			gsub(/\]\[|\[/, ":", place); sub(/\]$/, "", place)
			sum[place] += count
		} else sum["[" record "]"] += count
		record = ""
	}
	/^BEGIN_SAMPLE/ { inside = 1; next }
	/^END_SAMPLE/ { flush(); exit }
	inside && /^  / { flush(); record = substr($0, 3); next }
	inside { record = record $0 }
	END { for (name in sum) print name "\t" sum[name] }' "$1" | sort
}

# sites AWK-CONDITION: 'location blocks' over the sites of the truth for which it holds.
sites() {
	awk -F '\t' "\$1 == \"site\" && \$2 ~ /^[0-9]/ && \$7 != \"none\" && $1 { sum[\$7] += \$2 }
		END { for (name in sum) print name \"\\t\" sum[name] }" "$truth" | sort
}

sum_of() {
	awk -F '\t' '{ sum += $2 } END { print sum + 0 }' "$1"
}

# compare_column NAME: of the line of this dump and variant in compare.tsv.
compare_column() {
	awk -F '\t' -v name="$1" -v dump="$(basename "$dump" .zst)" -v variant="$variant" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == dump && $2 == variant { print $at[name] }' \
		"$(dirname "$dump")/expected/compare.tsv"
}

check_variant() {
	original "$counts" >"$work/original"
	grep '^\[' "$work/original" >"$work/labels" || true
	grep -v '^\[' "$work/original" >"$work/places" || true
	cut -f 1 "$work/places" >"$work/names"

	# What the original counted is what the truth has as exact ids at these locations ...
	awk -F '\t' 'NR == FNR { named[$1] = 1; next } $1 in named' "$work/names" \
		"$work/exact" >"$work/exact.named"
	check_same "$name $variant: the original's counts are those of the exact ids" \
		"$work/exact.named" "$work/places"
	# ... and heapgraph has them all, plus the recovered ones.
	cat "$work/places" "$work/bit21" | awk -F '\t' '
		NR == FNR { named[$1] = 1; next }
		$1 in named { sum[$1] += $2 }
		END { for (name in named) print name "\t" sum[name] }' "$work/names" - |
		sort >"$work/wanted"
	awk -F '\t' 'NR == FNR { named[$1] = 1; next } $1 in named' "$work/names" \
		"$work/heapgraph" >"$work/got"
	check_same "$name $variant: heapgraph's counts are the original's and the recovered" \
		"$work/got" "$work/wanted"
	awk -F '\t' 'NR == FNR { named[$1] = 1; next } $1 in named' "$work/labels" \
		"$work/heapgraph" >"$work/got"
	check_same "$name $variant: fixed labels" "$work/got" "$work/labels"

	# Nothing is lost on the way: what the original did not count, and why.
	awk -F '\t' 'NR == FNR { named[$1] = 1; next } !($1 in named)' "$work/names" \
		"$work/exact" >"$work/unnamed"
	check_equal "$name $variant: blocks that the original counted" \
		"$(sum_of "$work/original")" "$(compare_column counted)"
	check_equal "$name $variant: blocks at locations that the original cannot type" \
		"$(sum_of "$work/unnamed")" \
		"$(($(compare_column arrow) + $(compare_column no_expr) + $(compare_column no_cmt)))"
}

for dump in $(dumps_in "$v01"); do
	name=$(basename "$(dirname "$dump")")/$(basename "$dump" .zst)
	folder=$(dirname "$dump")/expected
	truth=$folder/indep-$(index_of "$dump").txt
	run top --by location --format csv "$dump"
	columns location blocks <"$work/out" | sort >"$work/heapgraph"
	sites '$5 == "exact"' >"$work/exact"
	sites '$5 == "bit21"' >"$work/bit21"
	for variant in A B; do
		counts=$folder/orig-$variant/heap.$(index_of "$dump").loc.hp
		case $name in
		recty/*) ;;
		*) check_variant ;;
		esac
	done
done

# The bugs of the original, by name.  in_dump SET VARIANT: loads what the next checks look at.
in_dump() {
	dump=$(dumps_in "$v01/$1" | head -n 1)
	truth=$v01/$1/expected/indep-$(index_of "$dump").txt
	counts=$v01/$1/expected/orig-$2/heap.$(index_of "$dump").loc.hp
	variant=$2
	original "$counts" >"$work/original"
	run top --by location --format csv "$dump"
	columns location blocks <"$work/out" | sort >"$work/heapgraph"
}

# blocks_at FILE LOCATION-RE: sum of the blocks there.
blocks_at() {
	awk -F '\t' -v re="$2" '$1 ~ re { sum += $2 } END { print sum + 0 }' "$1"
}

in_dump cache-dump B
sites '$5 == "exact"' | cut -f 1 >"$work/exact"
sites '$5 == "bit21"' | cut -f 1 >"$work/bit21"
comm -13 "$work/exact" "$work/bit21" >"$work/lost"
check 'bug, lost bit 21: there are locations that only such ids have' test -s "$work/lost"
cut -f 1 "$work/original" | comm -12 - "$work/lost" >"$work/both"
check 'bug, lost bit 21: the original knows none of them' test ! -s "$work/both"
cut -f 1 "$work/heapgraph" | comm -13 - "$work/lost" >"$work/missing"
check 'bug, lost bit 21: heapgraph knows all of them' test ! -s "$work/missing"

in_dump cache-dump A
none=$(awk -F '\t' '$1 == "site" && $2 ~ /^[0-9]/ && ($7 == "none" || $5 == "unknown") { sum += $2 }
	END { print sum + 0 }' "$truth")
check_equal 'bug, records have no location: heapgraph shows them as one row without name' \
	"$(blocks_at "$work/heapgraph" '^$')" "$none"

in_dump objs-dump A
check_equal 'bug, module names confused (objs.ml, obj.cmt): variant A has the locations' \
	"$(blocks_at "$work/original" '^objs[.]ml:47:19-35$')" 150
in_dump objs-dump B
check_equal 'bug, module names confused (objs.ml, obj.cmt): variant B lost them all' \
	"$(blocks_at "$work/original" '^objs[.]ml:')" 0
check_equal 'bug, module names confused (objs.ml, obj.cmt): heapgraph has them' \
	"$(blocks_at "$work/heapgraph" '^objs[.]ml:47:19-35$')" 150

check_equal 'bug, a short sample is never flushed (tiny A): the original is empty' \
	"$(original $v01/tiny/expected/orig-A/heap.0.noloc.hp | wc -l)" 0
# It writes PID.hp where it is called.
cp $tiny $v01/tiny/t1.prof $v01/tiny/t1.cmt "$work"
cd "$work"
run -prof t1.prof -heap heap.dump.29370.0
cd "$top"
check 'bug, a short sample is never flushed (tiny A): heapgraph prints it' \
	grep -q '^all blocks *247 \|  all blocks *247 ' "$work/out"

in_dump longty A
check 'bug, lines broken in wide types (longty): the original has such lines' \
	awk '/^BEGIN_SAMPLE/ { inside = 1; next } /^END_SAMPLE/ { exit }
		inside && !/^  / { found = 1 } END { exit !found }' "$counts"
check_equal 'bug, lines broken in wide types (longty): the count is split in two' \
	"$(blocks_at "$work/original" '^longty[.]ml:3:12-35$')" \
	"$(blocks_at "$work/heapgraph" '^longty[.]ml:3:12-35$')"

in_dump recty B
check 'bug, recursive object types (recty): the output of the original is empty' test ! -s "$counts"
check 'bug, recursive object types (recty): heapgraph reads it' \
	test "$(blocks_at "$work/heapgraph" '^recty[.]ml:')" -gt 0

in_dump variants-dump B
sites '$5 == "exact"' >"$work/exact"
cut -f 1 "$work/original" >"$work/names"
awk -F '\t' 'NR == FNR { named[$1] = 1; next } !($1 in named) && $1 ~ /^variants[.]ml:/' \
	"$work/names" "$work/exact" >"$work/arrows"
check 'bug, arrow types dropped (variants): the original lacks functions of the program' \
	test -s "$work/arrows"
awk -F '\t' 'NR == FNR { named[$1] = 1; next } $1 in named' "$work/arrows" "$work/heapgraph" \
	>"$work/got"
check_same 'bug, arrow types dropped (variants): heapgraph has them' "$work/got" "$work/arrows"
check_equal 'bug, arrow types dropped (variants): except behind a link' \
	"$(blocks_at "$work/original" '^variants[.]ml:52:14-36$')" 8
