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

# What does not go together, and limits that are none
check_run 'snapshots of two programs' 3 check $cache0 $v01/objs-dump/heap.dump.9001.0 $cache5
check 'snapshots of two programs: names both' grep -q "of the program 'objs', the other of 'cache'" "$work/err"
check_run 'the same file twice' 3 check $cache0 $cache2 $cache0
check 'the same file twice: says so' grep -q 'it is the same file' "$work/err"
core=$fixtures/cores/tiny-5.3.0.core.zst
check_run 'another layout of headers' 3 check $cache0 "$core" $cache5
for limit in '--max-growth x' '--max-growth 5%%' '--max-path x' '--max-path =5' '--max-path x=y' '--max-type x' \
	'--max-type x=1M' '--max-type *=1' '--max-total 1Q'; do
	# shellcheck disable=SC2086 # words
	check_run "no limit: $limit" 2 check $limit $cache0 $cache2 $cache5
	check_equal "no limit: $limit: nothing on standard output" "$(wc -c <"$work/out")" 0
done
