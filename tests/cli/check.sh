#!/bin/bash
# check: the gate fails and passes as its limits say; suppressions; JUnit XML; snapshots that do not
# go together.
. tests/cli/lib.sh

# The sessions of the cache are never removed.
leak='(string, Cache.session) Hashtbl.bucketlist'
check_run 'without limits: what grows at every step' 1 check $cache0 $cache2 $cache5
check 'without limits: names the path' grep -qF "FAIL      (string, Cache.session) Hashtbl.t / $leak array / $leak" \
	"$work/out"
check 'without limits: names the line' grep -q 'made at cache.ml:30' "$work/out"
check_run 'without limits: JSON' 1 check --format json $cache0 $cache2 $cache5
check 'without limits: one row, most of the growth' jq -e '(.rows | length == 1) and (.passed | not) and
	.failures == 1 and (.rows[0] | .blocks_first == 500 and .blocks_last == 3000 and
	.growth_share >= 9500 and .limit == "5 % of the growth")' "$work/out"
check_run 'without limits: two snapshots do not tell' 2 check $cache0 $cache5
check 'without limits: says so' grep -q 'three snapshots' "$work/err"
check_run 'without limits: nothing grows backwards' 0 check $cache5 $cache2 $cache0

# What all roots retain: 185,584 bytes in the first, 986,552 in the last.
first=$("$hg" summary --format json $cache0 | jq .totals.retained_bytes)
last=$("$hg" summary --format json $cache5 | jq .totals.retained_bytes)
check_run '--max-growth: a byte more than allowed' 1 check --max-growth $((last - first - 1)) $cache0 $cache5
check_run '--max-growth: just allowed' 0 check --max-growth $((last - first)) $cache0 $cache5
percent=$(((last - first) * 100 / first))
check_run '--max-growth: in percent, exceeded' 1 check --max-growth $percent% $cache0 $cache5
check_run '--max-growth: in percent, kept' 0 check --max-growth $((percent + 1))% $cache0 $cache5
check_run '--max-growth: from the last base on' 0 check --max-growth 100% $cache0 $cache2 $cache5
check_run '--max-growth: shrinking is no growth' 0 check --max-growth 0% $cache5 $cache0
check_run '--max-total: exceeded' 1 check --max-total $((last - 1)) $cache0 $cache5
check_run '--max-total: kept' 0 check --max-total "$last" $cache0 $cache5
check_run '--max-type: exceeded' 1 check --max-type '^Cache.session$=2999' $cache0 $cache5
check 'it says how many' grep -q '3,000 blocks, more than allowed (limit: 2999 blocks)' "$work/out"
check_run '--max-type: kept' 0 check --max-type '^Cache.session$=3000' $cache0 $cache5
retained=$("$hg" tree --format csv $cache5 | columns path retained_bytes |
	awk -F '\t' '$1 ~ / \/ Cache.session$/ { print $2 }')
check_run '--max-path: exceeded' 1 check --max-path "* / Cache.session=$((retained - 1))" $cache0 $cache5
check_run '--max-path: kept' 0 check --max-path "* / Cache.session=$retained" $cache0 $cache5
cp $cache0 "$work/heap.dump.8975.1"
run check --max-path '(string, Cache.session) Hashtbl.t=1K' --prof $v01/cache-dump/cache.prof $cache0 "$work/heap.dump.8975.1"
check_equal '--max-path: a path that did not change counts, too' "$status" 1
run check --max-path '*=1' --format csv $cache0 $cache5
check 'of paths below one another the uppermost counts' \
	test "$(columns path <"$work/out" | grep -c ' / ')" -eq 0

# Known growth.
printf '# the cache\n\n(string, Cache.session) Hashtbl.t until 2999-12-31: bounded, bug 12\n' >"$work/known"
check_run 'a suppression: passes' 0 check --suppress "$work/known" $cache0 $cache2 $cache5
check 'a suppression: says why' grep -q 'known     bounded, bug 12' "$work/out"
sed 's/2999/1999/' "$work/known" >"$work/late"
check_run 'a suppression out of date: fails' 1 check --suppress "$work/late" $cache0 $cache2 $cache5
check 'a suppression out of date: says so' grep -q '1 suppression is not needed' "$work/out"
for line in 'x' 'x until 2026-02-30: no such day' 'x until 2026-02-20:' ' until 2026-02-20: no path' \
	'x until 20260220: why'; do
	printf '%s\n' "$line" >"$work/bad"
	check_run "no suppression: '$line'" 3 check --suppress "$work/bad" $cache0 $cache2 $cache5
	check "no suppression: '$line': names file and line" grep -q '/bad: line 1 ' "$work/err"
done
for shape in '\357\273\277%s' '%s\r' '%s\n\n# x\r\n'; do
	# shellcheck disable=SC2059 # shapes are formats
	printf "$shape" '(string, Cache.session) Hashtbl.t until 2999-12-31: why' >"$work/marked"
	run check --suppress "$work/marked" $cache0 $cache2 $cache5
	check_equal "suppressions as $shape: read" "$status" 0
done
{
	head -c 10000000 /dev/zero | tr '\0' '*'
	printf 'x until 2999-12-31: long\n'
	seq -f 'x%.0f* until 2999-12-31: many' 20000
} >"$work/long"
run check --suppress "$work/long" $cache0 $cache2 $cache5
check_equal 'suppressions of 10 MB in a line, and of many lines: exit status' "$status" 1
check 'suppressions that are not needed: counted' grep -q '20001 suppressions are not needed' "$work/out"
printf 'a\0b until 2026-02-20: c\n' >"$work/bad"
check_run 'suppressions that are no text' 3 check --suppress "$work/bad" $cache0 $cache2 $cache5
check_run 'suppressions that are not there' 3 check --suppress "$work/none" $cache0 $cache2 $cache5

# For machines
check_run 'JUnit: the exit status is that of the check' 1 check --junit "$work/j.xml" $cache0 $cache2 $cache5
check 'JUnit: XML' xmllint --noout "$work/j.xml"
check_equal 'JUnit: one failure of one case' "$(xmllint --xpath \
	'concat(/testsuites/@tests, count(//testcase), count(//failure), /testsuites/@failures)' "$work/j.xml")" 1111
run check --junit "$work/j.xml" --suppress "$work/known" $cache0 $cache2 $cache5
check_equal 'JUnit: skipped what is suppressed' "$(xmllint --xpath 'string(//skipped/@message)' "$work/j.xml")" \
	'bounded, bug 12'
run check --junit "$work/j.xml" --max-growth 1000% $cache0 $cache2
check_equal 'JUnit: a case that has passed' "$(xmllint --xpath 'count(//testcase)' "$work/j.xml")" 1
ln -s /dev/full "$work/full"
for place in /nonexistent/x "$work" "$work/full"; do
	refuses "JUnit: $place cannot be written" 5 check --junit "$place" $cache0 $cache2 $cache5
done
check 'JUnit: a link to a device stays one' test -L "$work/full"
cp $cache0 "$work/heap.dump.8975.0"
ln -s heap.dump.8975.0 "$work/link"
for place in heap.dump.8975.0 link known; do
	for option in --junit -o; do
		refuses "$option: what is read is not written over: $place" 2 check --suppress "$work/known" \
			$option "$work/$place" "$work/heap.dump.8975.0" $cache2 $cache5
	done
done
check_same 'it is as it was' "$work/heap.dump.8975.0" $cache0
rm "$work/link" "$work/heap.dump.8975.0"
refuses 'JUnit: where the other output goes' 2 check --junit "$work/x" -o "$work/../$(basename "$work")/x" \
	$cache0 $cache2 $cache5
refuses 'JUnit: on standard output, as the text' 2 check --junit - $cache0 $cache2 $cache5
check 'JUnit: nothing is left of what failed' test ! -e "$work/x"
check_run 'JUnit: on standard output' 1 check --junit - -o "$work/x" $cache0 $cache2 $cache5
check 'JUnit: on standard output, XML' xmllint --noout "$work/out"
run check --junit "$work/none.xml" $cache0 $v01/objs-dump/heap.dump.9001.0
check_equal 'JUnit: snapshots that cannot be compared' "$status" 3
check 'JUnit: nothing is left' test ! -e "$work/none.xml"

# A limit that says nothing of this program is a slip, but may be of a path that is gone.
run check --max-path 'nosuch=1M' --max-path '*=1G' --max-type 'nosuch=1' --max-type '^Cache.session$=3000' $cache0 $cache5
check_equal 'limits of what there is not: exit status' "$status" 0
check_equal 'limits of what there is not: each is said' "$(sed 's/.*: //' "$work/err" | paste -s -d '|')" \
	"no block has a type that matches 'nosuch'|no path matches 'nosuch'"

# What does not go together, and limits that are none
check_run 'snapshots of two programs' 3 check $cache0 $v01/objs-dump/heap.dump.9001.0 $cache5
check 'snapshots of two programs: names both' grep -q "of the program 'objs', the other of 'cache'" "$work/err"
check_run 'the same file twice' 3 check $cache0 $cache2 $cache0
check 'the same file twice: says so' grep -q 'it is the same file' "$work/err"
for limit in '' ' 5%' '5 %' '10 MB'; do
	refuses "no limit: '$limit'" 2 check --max-growth "$limit" $cache0 $cache5
done
# In a series a frame has no call in its name, as that moves, but beside it.
run trend --format json -o "$work/base.json" "$fixtures/cores/zoo-5.3.0.core.zst"
check 'a frame: its line' jq -e '[.names[] | select(.name == "stack Zoo.descend")] | length == 1 and
	(.[0].defined_at | test("^zoo.ml:21[38]$"))' "$work/base.json"
core=$fixtures/cores/tiny-5.3.0.core.zst
check_run 'another layout of headers' 3 check $cache0 "$core" $cache5
for limit in '--max-growth x' '--max-growth 5%%' '--max-growth -5%' '--max-growth 1e400' '--max-growth NaN' \
	'--max-growth 99999999999999999999' '--max-growth 18446744073709551615' '--max-growth 16777216T' \
	'--max-growth 1000001%' '--max-growth .5%' '--max-growth 5.%' '--max-growth %' '--max-growth 0x10' \
	'--max-growth +5' '--max-growth 10mb' '--max-total -1' '--max-total 5%' '--max-path x=-1' '--max-path x=' \
	'--max-type x=99999999999999999999' '--max-type x=-1' '--max-path x' '--max-path =5' '--max-path x=y' '--max-type x' \
	'--max-type x=1M' '--max-type *=1' '--max-total 1Q'; do
	# shellcheck disable=SC2086 # words
	check_run "no limit: $limit" 2 check $limit $cache0 $cache2 $cache5
	check_equal "no limit: $limit: nothing on standard output" "$(wc -c <"$work/out")" 0
done
