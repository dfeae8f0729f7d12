#!/bin/bash
# Dumps that were cut short are refused, unless --partial asks for what is there: exit 4, and every
# output says so.
. tests/cli/lib.sh

cut_dump=$work/heap.dump.8975.0
head -c 100000 $cache0 >"$cut_dump"
cp $v01/cache-dump/cache.prof "$work"

refuses 'cut short without --partial' 3 offset top "$cut_dump"
for verb in summary info top tree 'why loc:cache.ml' objects edges waste dot trend; do
	for format in text csv json; do
		[ "$verb" != dot ] || [ $format = text ] || continue
		formats="--format $format"
		[ "$verb" != dot ] || formats=
		# shellcheck disable=SC2086 # words
		run $verb --partial $formats "$cut_dump"
		check_equal "$verb --partial, $format: exit status" "$status" 4
		case $verb:$format in
		dot:*) check "$verb --partial: the picture says so" grep -q 'PARTIAL\|partial' "$work/out" ;;
		*:json) check "$verb --partial, json: says so" jq -e '.partial | length > 0' "$work/out" ;;
		*:csv) check "$verb --partial, csv: stderr says so" grep -q 'PARTIAL' "$work/err" ;;
		*) check "$verb --partial, text: says so" grep -q 'PARTIAL' "$work/out" ;;
		esac
	done
done
run diff --partial --format json "$cut_dump" $cache0
check_equal 'diff with a partial one: exit status' "$status" 4
check 'diff with a partial one: says so' jq -e '[.. | .partial? // empty] | length > 0' "$work/out"
run dot --partial -o "$work/x.svg" "$cut_dump"
check_equal 'dot --partial -o x.svg: exit status' "$status" 4
check 'dot --partial -o x.svg: the picture says so' grep -q 'PARTIAL\|partial' "$work/x.svg"
run trend --partial -o "$work/y.svg" "$cut_dump" $cache2
check_equal 'trend --partial -o x.svg: exit status' "$status" 4
check 'trend --partial -o x.svg: the chart says so' grep -q '>PARTIAL: heap.dump.8975.0: ' "$work/y.svg"
check 'trend --partial -o x.svg: stderr says so' grep -q 'PARTIAL' "$work/err"

# What is read is the beginning of the whole.
"$hg" objects --format csv $cache0 | columns address tag words bytes >"$work/whole"
run objects --partial --format csv "$cut_dump"
columns address tag words bytes <"$work/out" >"$work/part"
check '--partial: there are blocks, but not all' test \
	"$(wc -l <"$work/part")" -gt 1000 -a "$(wc -l <"$work/part")" -lt "$(wc -l <"$work/whole")"
sort "$work/whole" >"$work/whole.sorted"
sort "$work/part" | comm -23 - "$work/whole.sorted" >"$work/invented"
check '--partial: all of them are blocks of the whole' test ! -s "$work/invented"

check_run '--partial with a whole dump is no partial result' 0 top --partial $cache0
head -c 5 $cache0 >"$work/heap.dump.1.0"
refuses '--partial with nothing to read' 3 top --partial "$work/heap.dump.1.0"
refuses '--partial does not excuse text' 3 top --partial LICENSE

# The other formats, and cuts everywhere: read (4), refused (3), or whole in all that counts (0).
for dump in $tiny $fixtures/v02/cache-m-opt/memprof.28975.after_major_collection.0.dump \
	$fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump; do
	name=$(basename "$dump")
	size=$(wc -c <"$dump")
	failed='' some=no
	for ((i = 1; i < 40; i++)); do
		head -c $((size * i / 40 + i % 8)) "$dump" >"$work/$name"
		run objects --partial --format csv "$work/$name"
		case $status in
		4) some=yes ;;
		3) ;;
		*) failed="$failed $i:$status" ;;
		esac
	done
	check_equal "$name: --partial at 39 places" "$failed" ''
	case $name in
	*.after_major_collection.dump) ;; # its table of sections is at the end
	*) check_equal "$name: --partial finds something" $some yes ;;
	esac
done
