#!/bin/bash
# dot: what it writes is read by other programs, and shows what it should.
. tests/cli/lib.sh

for dump in $(dumps_in "$fixtures"); do
	name=${dump#"$fixtures/"}
	check_run "$name: DOT" 0 dot "$dump"
	check "$name: Graphviz reads it" dot -Tcanon "$work/out"
	check "$name: at most 80 nodes and their notes" \
		test "$(dot -Tplain "$work/out" | grep -c '^node ')" -le 161
done

run dot --nodes 10 $cache5
check 'dot --nodes 10: ten nodes and their notes' \
	test "$(dot -Tplain "$work/out" | grep -c '^node ')" -le 21
check 'dot: labels have a type, a location, bytes and percent' \
	grep -q 'label="Cache[.]scratch list ref\\ncache[.]ml:21:33-39\\n1 word\\n9[.]4 KB   1[.]0 %"' "$work/out"

begins_with() {
	[ "$(head -c "${#2}" "$1")" = "$2" ]
}
check_run 'dot -o x.svg' 0 dot -o "$work/x.svg" $cache5
check 'SVG is XML' xmllint --noout --nonet "$work/x.svg"
check 'SVG shows where the memory is' grep -q '\[array\]' "$work/x.svg"
check_run 'dot -o x.png' 0 dot -o "$work/x.png" $cache0
check 'PNG has its magic' begins_with "$work/x.png" "$(printf '\211PNG')"
check_run 'dot -o x.pdf' 0 dot -o "$work/x.pdf" $cache0
check 'PDF has its magic' begins_with "$work/x.pdf" '%PDF-'
check_run 'dot -o x.dot' 0 dot -o "$work/x.dot" $cache0
check 'x.dot is DOT' dot -Tcanon "$work/x.dot"

check_run 'dot --from a root' 0 dot --from root:stack $cache5
refuses 'dot --from nothing' 2 dot --from loc:no-such-file $cache5

# Names of the dump stand in labels: a program name with everything that could break out of them.
name=$(printf './"]}\\<b>&\033[31m\377')
{
	printf '\010'
	printf '%b' "\\0$(printf '%o' ${#name})\\0\\0\\0\\0\\0\\0\\0"
	printf '%s' "$name"
	tail -c +$((1 + 8 + 4 + 1)) "$(plain $tiny)"
} >"$work/heap.dump.29370.0"
for verb in summary info dot; do
	check_run "odd program name: $verb" 0 $verb --prof $v01/tiny/t1.prof "$work/heap.dump.29370.0"
	check "odd program name: $verb has no control characters" \
		test "$(tr -d '\n\t\040-\176\200-\377' <"$work/out" | wc -c)" -eq 0
done
check 'odd program name: Graphviz reads it' dot -Tcanon "$work/out"
check_run 'odd program name: SVG' 0 dot -o "$work/y.svg" --prof $v01/tiny/t1.prof "$work/heap.dump.29370.0"
check 'odd program name: SVG is XML' xmllint --noout --nonet "$work/y.svg"
run summary --format json "$work/heap.dump.29370.0"
check 'odd program name: JSON' jq -e '.snapshot.program | contains("\ufffd")' "$work/out"
run summary --format csv "$work/heap.dump.29370.0"
check 'odd program name: CSV is verbatim, with doubled quotes' \
	grep -qaF 'program,"./""]}' "$work/out"
