#!/bin/bash
# The machine contract: columns of CSV, shape of JSON, exit codes, options, and where output goes.
# shellcheck disable=SC2016 # programs of awk and jq
. tests/cli/lib.sh

# header NAME WANTED ARGUMENT...: the first line of CSV, and as many fields in every line.
header() {
	local name=$1 wanted=$2
	shift 2
	run "$@" --format csv
	check_equal "$name: header" "$(head -n 1 "$work/out")" "$wanted"
	check "$name: as many fields in every row" awk -F , '
		/"/ { gsub(/"[^"]*"/, "") }
		NR == 1 { fields = NF }
		NF != fields { print NR ": " $0; exit 1 }' "$work/out"
}

measures=blocks,bytes,retained_bytes,confidence,estimated_bytes,estimated_error,offheap_bytes,retained_offheap_bytes
growth=blocks_old,blocks_new,bytes_old,bytes_new,bytes_delta,retained_old,retained_new,retained_delta
growth=$growth,offheap_delta,retained_offheap_delta,growth_share,made_at
course=blocks,bytes,retained_bytes,offheap_bytes,retained_offheap_bytes,grows,growth_share,made_at
header objects \
	address,tag,words,bytes,type,location,reachable,retained_bytes,idom,segment,confidence,offheap_bytes,root \
	objects $tiny
header waste section,type,address,blocks,bytes,saved_bytes,groups,outer,room,used,longest,content waste $tiny
header edges from,field,to,kind,from_node,to_node edges $tiny
for key in location tag module type function; do
	case $key in
	type | function) places=,made_at ;;
	*) places= ;;
	esac
	header "top by $key" "$key,$measures$places" top --by $key $tiny
	header "diff by $key" "$key,$growth" diff --by $key $cache0 $cache2
	header "trend by $key" "index,$key,$course" trend --by $key $cache0 $cache2
done
header 'top by type,location' "type,location,$measures" top --by type,location $tiny
header 'diff by type,location' "type,location,$growth" diff --by type,location $cache0 $cache2
header 'trend by type,location' "index,type,location,$course" \
	trend --by type,location $cache0 $cache2
header types type,kind,unit,blocks,bytes,layout,made_at,offheap_bytes types $tiny
header 'types --places' type,place,own,exact,direct,kind,located_blocks,located_bytes types --places $tiny
header 'top by root' "kind,name,$measures" top --by root $tiny
header roots \
	kind,name,address,type,location,targets,bytes,retained_bytes,reachable,confidence,offheap_bytes,retained_offheap_bytes roots $tiny
header 'diff by root' "kind,name,$growth" diff --by root $cache0 $cache2
header 'trend by root' "index,kind,name,$course" trend --by root $cache0 $cache2
header diff "path,$growth" diff $cache0 $cache2
header trend "index,path,$course" trend $cache0 $cache2
header 'trace trend' index,location,in_c,live_bytes,blocks,allocated_bytes,grows,growth_share,time,event \
	trace trend $fixtures/spacetime/p1-4.08.1.spacetime.zst
header 'trace calls' calls,paths,kind,site,callee,callee_at \
	trace calls $fixtures/spacetime/p1-4.08.1.spacetime.zst
header holders \
	root,path,blocks,retained_bytes,retained_offheap_bytes,made_of,made_of_bytes,made_at,defined_at \
	holders $tiny
header check \
	path,blocks_first,blocks_last,retained_first,retained_last,growth_share,made_at,defined_at,limit \
	check $cache0 $cache2 $cache5
header tree \
	depth,path,blocks,bytes,retained_bytes,offheap_bytes,retained_offheap_bytes,made_at tree $tiny
header 'tree --blocks' depth,address,type,location,bytes,retained_bytes,children tree --blocks $tiny
header why depth,address,tag,location,nodes,targets,bytes,type,offheap_bytes,name why loc:t1.ml $tiny
header 'why --referrers' holder,field,field_name,pointers,holders,targets,dominated,address \
	why --referrers loc:t1.ml $tiny
header retained "part,name,nodes,reachable,blocks,bytes,offheap_bytes,retained_blocks,retained_bytes,\
retained_offheap_bytes,shared_blocks,shared_bytes,shared_offheap_bytes,largest" retained string $tiny
header object index,kind,value,address,tag,location,bytes,retained_bytes,code,name,type,text \
	object "$("$hg" objects --format csv $tiny | columns address | head -n 1)" $tiny
header summary section,name,value summary $tiny
header info section,name,value info $tiny

# Orders
run objects --format csv $cache0
columns address <"$work/out" >"$work/got"
check 'objects: by address' sort -c "$work/got"
check 'objects: addresses in hexadecimal' test "$(grep -cv '^0x[0-9a-f]*$' "$work/got")" -eq 0
run top --by location --format csv $cache0
columns retained_bytes location <"$work/out" >"$work/got"
check 'top: by retained bytes, then name' \
	sort -c -t "$(printf '\t')" -k 1,1nr -k 2,2 "$work/got"
run diff --by location --format csv $cache0 $cache5
columns retained_delta location <"$work/out" |
	awk -F '\t' '{ print ($1 < 0 ? -$1 : $1) "\t" $2 }' >"$work/got"
check 'diff: by absolute growth, then name' \
	sort -c -t "$(printf '\t')" -k 1,1nr -k 2,2 "$work/got"

# The tree
run tree --blocks --format csv $cache5
columns depth address bytes retained_bytes <"$work/out" >"$work/tree"
check_equal 'tree: the first row is the virtual root' \
	"$(head -n 1 "$work/tree")" "$(printf '0\troot\t0\t986552')"
check_equal 'tree: the last row is what is unreachable' \
	"$(tail -n 1 "$work/tree")" "$(printf '0\t(unreachable)\t102568\t0')"
check_equal 'tree: without limits every reachable block has a row' \
	"$(grep -c '	0x' "$work/tree")" 33866
run objects --format csv $cache5
columns bytes reachable <"$work/out" | awk '$2 { sum += $1 } END { print sum }' >"$work/got"
check_equal 'tree: its root retains the sum of all reachable blocks' "$(cat "$work/got")" 986552

# Retained bytes of a class: of its blocks that no other block of it dominates.
for dump in $tiny $v01/objs-dump/heap.dump.9001.0 $fixtures/v02/objs-opt/memprof.28958.0.dump; do
	"$hg" objects --format csv "$dump" | columns address location retained_bytes idom tag \
		>"$work/objects"
	for key in location tag; do
		awk -F '\t' -v by=$key '
			{ class[$1] = by == "tag" ? $5 : $2; retained[$1] = $3; idom[$1] = $4 }
			END {
				for (block in class) {
					sum[class[block]] += 0
					for (above = idom[block]; above in class; above = idom[above])
						if (class[above] == class[block]) break
					if (!(above in class)) sum[class[block]] += retained[block]
				}
				for (name in sum) print name "\t" sum[name]
			}' "$work/objects" | sort >"$work/wanted"
		"$hg" top --by $key --format csv "$dump" | columns $key retained_bytes |
			sort >"$work/got"
		check_same "$(basename "$(dirname "$dump")"): retained bytes by $key" \
			"$work/got" "$work/wanted"
	done
done

# JSON: shape NAME VERB JQ-TEST ARGUMENT...
shape() {
	local name=$1 verb=$2 test=$3
	shift 3
	run "$@" --format json
	check "$name: JSON of one object, integers only" jq -e -s \
		"length == 1 and (.[0].schema_version == 2) and .[0].verb == \"$verb\" and
		([.. | numbers | select(. != floor)] | length == 0)" "$work/out"
	check "$name: JSON shape" jq -e "$test" "$work/out"
}
snapshot='(.snapshot | .format == "memprof01" and .reserved_bits == 21 and .word_size == 8
	and .pid == 29370 and .index == 0 and (.ocaml_version | type == "string"))'
shape summary summary "$snapshot"' and (.totals | .blocks == 247 and .bytes == 6528 and
	.reachable_blocks == 247 and .reachable_bytes == 6528 and .unreachable_blocks == 0 and
	.unreachable_bytes == 0 and .static_blocks == 0 and .dangling_pointers == 0) and
	(.reconciliation | to_entries | all(.value == true)) and
	([.locations, .dominators, .suspects, .roots] | all(type == "array"))' $tiny
shape info info "$snapshot"' and .file.format == "memprof01" and .heap.blocks == 247 and
	.roots.stack == 2 and (.chunk_list | length == 1)' info $tiny
for key in location tag module root type type,location callstack function; do
	shape "top by $key" top "$snapshot and .by == \"$key\" and (.rows | length > 0) and
		(.rows | all(.blocks >= 0 and .bytes >= 0 and .retained_bytes >= 0))" \
		top --by $key $tiny
	shape "diff by $key" diff ".by == \"$key\" and .old_snapshot.index == 0 and
		.new_snapshot.index == 2 and (.rows | all(.bytes_delta == .bytes_new - .bytes_old))" \
		diff --by $key $cache0 $cache2
done
shape tree tree "$snapshot"' and .by == "path" and .rows[0].path == "all roots" and
	.rows[0].depth == 0 and (.rows[1:] | all(.depth > 0))' tree $tiny
shape 'tree --blocks' tree "$snapshot"' and .by == "block" and .rows[0].address == "root" and
	.rows[-1].depth == 0' tree --blocks $tiny
shape why why "$snapshot"' and .selection.blocks == 10 and (.steps | length == 3) and
	.rows[0].depth == 0' why loc:t1.ml:6 $tiny
block=$("$hg" objects --format csv $tiny | columns address tag words reachable | awk '
	$2 == 0 && $3 > 1 && $4 { print $1; exit }')
shape object object "$snapshot and .object.address == \"$block\" and (.fields | length ==
	2 or length == 3) and (.referrers | length > 0) and .dominators[-1].address == \"root\"" \
	object "$block" $tiny
shape objects objects "$snapshot"' and (.rows | length == 247)' objects $tiny
shape trend trend '(.snapshots | length == 3) and (.rows | length > 0) and .by == "path"' \
	trend $cache0 $cache2 $cache5
for verb in objects top tree 'tree --blocks'; do
	# shellcheck disable=SC2086 # words
	"$hg" $verb --format json $cache0 | jq -r '.rows[] | [.retained_bytes, .bytes] | @tsv' \
		>"$work/got"
	# shellcheck disable=SC2086
	"$hg" $verb --format csv $cache0 | columns retained_bytes bytes >"$work/wanted"
	check_same "$verb: JSON has the numbers of CSV" "$work/got" "$work/wanted"
done

# One block after the other: object agrees with objects on dominators, and with fields of its
# referrers.
"$hg" objects --format csv $tiny | columns address idom | awk 'NR % 9 == 0' >"$work/sample"
while read -r address idom; do
	"$hg" object "$address" --referrers 0 --format json $tiny >"$work/object"
	printf '%s %s\n' "$address" "$(jq -r '.dominators[0].address |
		if startswith("0x") then . else "root" end' "$work/object")"
	jq -r '.referrers[] | select(.address | startswith("0x")) | "\(.address) \(.field)"' \
		"$work/object" | while read -r holder field; do
		"$hg" object "$holder" --fields 0 --format json $tiny |
			jq -e ".fields[$field].address == \"$address\"" >"$work/said" ||
			echo "$holder does not hold $address in field $field"
	done
	echo "$address $idom" >&3
done <"$work/sample" >"$work/got" 3>"$work/wanted"
check_same 'object: dominators and referrers of a sample of blocks' "$work/got" "$work/wanted"

# Limits and orders
run top --by location --limit 3 --format csv $cache0
check_equal 'top --limit 3 has three rows' "$(wc -l <"$work/out")" 4
run top --by location --limit 0 $cache0
cp "$work/out" "$work/all"
run top --by location $cache0
check 'top --limit 0 shows more than the default' \
	test "$(wc -l <"$work/all")" -gt "$(wc -l <"$work/out")"
run top --by location --sort blocks --format csv $cache0
columns blocks <"$work/out" >"$work/got"
check 'top --sort blocks' sort -c -nr "$work/got"
run objects --sort retained_bytes --limit 5 --format csv $cache0
columns retained_bytes <"$work/out" >"$work/got"
check 'objects --sort retained_bytes' sort -c -nr "$work/got"

# The same bytes, whatever the number of threads and however often
for verb in summary objects 'top --by root' tree 'tree --blocks' 'why loc:cache.ml' dot; do
	# shellcheck disable=SC2086 # words
	run $verb --threads 1 $cache5
	cp "$work/out" "$work/once"
	for threads in 1 3; do
		# shellcheck disable=SC2086
		run $verb --threads $threads $cache5
		check_same "$verb: the same output again, with $threads threads" \
			"$work/once" "$work/out"
	done
done

# Calling conventions
run $cache5
cp "$work/out" "$work/bare"
run summary $cache5
check_same 'a bare snapshot prints the summary' "$work/bare" "$work/out"
run top --format=csv --by=tag $tiny
cp "$work/out" "$work/once"
run top $tiny --by tag --format csv
check_same 'options and operands in any order, --name=value' "$work/once" "$work/out"
zstd -q $tiny -o "$work/heap.dump.29370.0.zst"
cp $v01/tiny/t1.prof "$work"
cp $tiny "$work"
run objects --format csv "$work/heap.dump.29370.0.zst"
cp "$work/out" "$work/once"
run objects --format csv "$work/heap.dump.29370.0"
check_same 'a compressed snapshot is read like the plain one' "$work/once" "$work/out"
run objects --format csv --prof $v01/tiny/t1.prof $tiny
check_same 'a location source that is named or found' "$work/once" "$work/out"
byte02=$fixtures/v02/objs-byte
run objects --format csv $byte02/memprof.28910.0.dump
cp "$work/out" "$work/once"
cp $byte02/memprof.28910.0.dump "$work/heap.dump.1.0"
run objects --format csv --as memprof02 -I $byte02 --prof $byte02/memprof.28910.locations "$work/heap.dump.1.0"
check_same 'a renamed dump of 0.2, read --as memprof02' "$work/once" "$work/out"
refuses '--as another format' 3 top --as ocp2014 $tiny
check_run 'version' 0 --version
check 'version names jemalloc or the system' grep -q '^heapgraph [0-9.]* (\(jemalloc\|system\)' \
	"$work/out"
for verb in summary info top roots tree why retained object objects dot types diff trend completion; do
	check_run "$verb --help" 0 $verb --help
	cp "$work/out" "$work/once"
	run help $verb
	check_same "help $verb is the same" "$work/once" "$work/out"
done
check 'text has no colour when it is no terminal' test "$(grep -c "$(printf '\033')" "$work/bare")" -eq 0

# Usage errors: exit 2, one line
refuses 'usage: unknown option' 2 top --no-such-option $tiny
refuses 'usage: option cut short' 2 top --form csv $tiny
refuses 'usage: unknown format' 2 top --format xml $tiny
refuses 'usage: unknown key' 2 top --by colour $tiny
refuses 'usage: missing value' 2 top $tiny --limit
refuses 'usage: no number' 2 top --limit many $tiny
refuses 'usage: number out of range' 2 top --limit 99999999999999999999 $tiny
refuses 'usage: no snapshot' 2 top
refuses 'usage: two snapshots' 2 top $tiny $tiny
refuses 'usage: one snapshot for diff' 2 diff $tiny
refuses 'usage: neither verb nor file' 2 toop
refuses 'usage: unknown format to read' 2 top --as elf $tiny
refuses 'usage: bad regular expression' 2 why 'loc:(' $tiny
refuses 'usage: bad regular expression for types' 2 top --type '(' $tiny
refuses 'usage: types of a snapshot that has none' 2 why type:option $fixtures/ocp/byte-noloc/memprof.8911.0.*
refuses 'usage: two sources of locations' 2 top --prof $v01/tiny/t1.prof --prof $v01/tiny/t1.prof $tiny
refuses 'input: a profile that is not there' 3 top --prof "$work/no.prof" $tiny
refuses 'input: no types, and they are required' 3 top --require-types $fixtures/ocp/byte-noloc/memprof.8911.0.*
refuses 'usage: address without a block' 2 object 0x10 $tiny
refuses 'usage: unknown verb to explain' 2 help toop
refuses 'usage: both historical forms' 2 -heap $tiny -heaps 29370
refuses 'usage: historical form without a file' 2 -loc
run
check_equal 'usage: no argument at all' "$status" 2

# Output files
run top --format csv $tiny
cp "$work/out" "$work/wanted"
echo old >"$work/file"
chmod 640 "$work/file"
check_run 'top -o FILE' 0 top --format csv -o "$work/file" $tiny
check_same '-o FILE holds what stdout would' "$work/file" "$work/wanted"
check_equal '-o FILE prints nothing' "$(wc -c <"$work/out")" 0
mkdir "$work/folder"
refuses '-o into a missing folder' 5 top -o "$work/missing/file" $tiny
refuses '-o onto a folder' 5 top -o "$work/folder" $tiny
cp "$work/wanted" "$work/file"
refuses '-o keeps the old file when the input is bad' 3 top -o "$work/file" LICENSE
check_same '-o keeps the old file when the input is bad: contents' "$work/file" "$work/wanted"
check_equal '-o leaves no temporary file' "$(find "$work" -name 'file?*' | wc -l)" 0
run top --format csv -o /dev/null $tiny
check '-o /dev/null writes to the device' test "$status" -eq 0 -a -c /dev/null
status=0
"$hg" objects --format csv $cache0 >/dev/full 2>"$work/err" || status=$?
check_equal 'a full device: exit status' "$status" 5
check 'a full device: one line' one_line
status=0
"$hg" objects --format csv $cache5 2>"$work/err" | head -n 1 >"$work/out" || true
check 'a reader that goes away: no complaint' test ! -s "$work/err"

# A disk that is full needs a file system of our own.
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs "$work/folder" 2>"$work/said"; then
	refuses '-o onto a full disk' 5 objects --format csv -o "$work/folder/file" $cache0
	check_equal '-o onto a full disk leaves nothing' "$(find "$work/folder" -type f | wc -l)" 0
	if ! "$hg" version | grep -q "without Graphviz"; then
		refuses '-o of a picture onto a full disk' 5 \
			dot --blocks --min 0 -o "$work/folder/file.svg" $cache0
		check_equal '-o of a picture onto a full disk leaves nothing' \
			"$(find "$work/folder" -type f | wc -l)" 0
	else
		skip '-o of a picture onto a full disk' 'a build without Graphviz'
	fi
	umount "$work/folder"
else
	skip '-o onto a full disk' 'cannot mount a small one'
fi

# Memory
refuses '--max-memory too small' 5 top --max-memory 100K $cache5
check_run '--max-memory large enough' 0 top --max-memory 1G $cache5
