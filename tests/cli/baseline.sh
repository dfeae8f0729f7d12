#!/bin/bash
# Baselines: what trend wrote as JSON stands for the snapshots that it was made of, byte for byte;
# and what is none is refused with a line.
# shellcheck disable=SC2054,SC2086,SC2206 # keys with commas; the dumps' names have no spaces
. tests/cli/lib.sh

# stands_for NAME BASES... -- NEW: check, trend and diff say of the baseline of BASES and NEW what
# they say of the snapshots, by all 'keys'.  'options' are those of analysing.
options=()
keys=(path type type,location root function location tag)
! is_brief || keys=(path root)
stands_for() {
	local name=$1 bases=() verb format formats by status_of
	shift
	while [ "$1" != -- ]; do
		bases+=("$1")
		shift
	done
	for by in "${keys[@]}"; do
		# What is the same in JSON is the same in text and CSV, for which one key is enough.
		formats=(json)
		if [ $by = "${keys[0]}" ] || is_thorough; then formats=(text csv json); fi
		"$hg" trend "${options[@]}" --by $by -o "$work/base.json" "${bases[@]}" 2>"$work/err" ||
			test $? -eq 4
		for verb in trend diff 'check --max-growth 1%' "check --max-path *=1000"; do
			[ $by = path ] || [ "${verb%% *}" != check ] || continue
			old=("${bases[@]}")
			[ "$verb" != diff ] || old=("${bases[-1]}")
			for format in "${formats[@]}"; do
				set -f; words=($verb --format $format "${options[@]}"); set +f
				[ "${verb%% *}" = check ] || words+=(--by $by --limit 0)
				run "${words[@]}" "${old[@]}" "${@:2}"
				mv "$work/out" "$work/wanted"
				status_of=$status
				run "${words[@]}" "$work/base.json" "${@:2}"
				check_same "$name: $verb by $by, $format" "$work/out" "$work/wanted"
				check_equal "$name: $verb by $by, $format: exit status" "$status" "$status_of"
			done
		done
		if [ $by = root ]; then
			run trend --by root "${options[@]}" -o "$work/wanted.svg" "${bases[@]}" "${@:2}"
			run trend --by root "${options[@]}" -o "$work/got.svg" "$work/base.json" "${@:2}"
			check_same "$name: a chart by root" "$work/got.svg" "$work/wanted.svg"
		fi
		run trend --by $by "${options[@]}" --format json "$work/base.json"
		check_same "$name: a baseline of a baseline by $by" "$work/out" "$work/base.json"
	done
}

stands_for 'two of cache' $cache0 $cache2 -- $cache5
is_brief || keys=(path type)
stands_for 'one of cache' $cache2 -- $cache5
stands_for 'the later one first' $cache5 -- $cache0
stands_for 'types of another format' $v01/busy-hup/heap.dump.26916.0 $v01/busy-hup/heap.dump.26916.4 -- \
	$v01/busy-hup/heap.dump.26916.7
options=(--roots all)
stands_for 'all roots' $cache0 -- $cache2
is_brief || keys=(path type root)
for name in tiny-4.13.1 tiny-5.3.0 sampled-5.3.0 fibers-5.3.0; do
	zstd -dqf "$fixtures/cores/$name.core.zst" -o "$work/$name.core"
	cp "$work/$name.core" "$work/again-$name.core"
	options=(--no-host-files)
	if [ -e "$fixtures/cores/$name.prof.zst" ]; then
		zstd -dqf "$fixtures/cores/$name.prof.zst" -o "$work/$name.prof"
		options+=(--prof "$work/$name.prof")
	fi
	stands_for "$name" "$work/$name.core" -- "$work/again-$name.core"
done
options=()
if has_more; then
	stands_for 'serve-hup' "$more"/v01/serve-hup/heap.dump.10092.{0,1,2} -- \
		"$more"/v01/serve-hup/heap.dump.10092.{3,4}
fi

# As a gate: without limits, and what grows only since.
"$hg" trend -o "$work/base.json" $cache0 $cache2
check_run 'check without limits' 1 check "$work/base.json" $cache5
check 'check without limits: names the path' grep -q 'Hashtbl.bucketlist array / ' "$work/out"
check_run 'a baseline as the last one' 1 check $cache5 --max-total 1 "$work/base.json"
refuses '--max-type of a baseline' 2 check --max-type 'x=1' $cache5 "$work/base.json"
# stands_for(), the other way round: lines of what grew since are those that the baseline knows.
for by in path type; do
	"$hg" trend --by $by -o "$work/later.json" $cache2 $cache5
	for verb in diff trend; do
		old=($cache2 $cache5)
		[ $verb != diff ] || old=($cache5)
		"$hg" $verb --by $by --format json $cache0 "${old[@]}" >"$work/wanted"
		run $verb --by $by --format json $cache0 "$work/later.json"
		check_same "a snapshot before a baseline: $verb by $by" "$work/out" "$work/wanted"
	done
done
run diff --format csv $cache2 "$work/base.json"
check_equal 'diff with the baseline of the same: empty' "$(wc -l <"$work/out")" 1
"$hg" diff --format csv $cache5 $cache2 >"$work/wanted"
run diff --format csv $cache5 "$work/base.json"
check_same 'diff with a baseline as the newer one: the last of it' "$work/out" "$work/wanted"
zstd -qf "$work/base.json" -o "$work/base.json.zst"
"$hg" trend --format csv "$work/base.json" $cache5 >"$work/wanted"
run trend --format csv "$work/base.json.zst" $cache5
check_same 'a compressed baseline' "$work/out" "$work/wanted"
jq -S . "$work/base.json" >"$work/sorted.json"
run trend --format csv "$work/sorted.json" $cache5
check_same 'members in another order, written by jq' "$work/out" "$work/wanted"
jq '.more = [{"x": [[1.5e3], null]}] | .rows |= map(. + {"later": "x"})' "$work/base.json" >"$work/later.json"
run trend --format csv "$work/later.json" $cache5
check_same 'what a later version adds is no matter' "$work/out" "$work/wanted"
run trend --format json --sort name $cache0 $cache2
mv "$work/out" "$work/sorted.json"
run trend --format csv "$work/sorted.json" $cache5
check_same 'rows in another order' "$work/out" "$work/wanted"

keys=(path location type,location)
# Names of any bytes come back as they were: in a table of locations, of the same length.
mkdir "$work/hostile"
cp $v01/cache-dump/cache.cmt "$work/hostile"
python3 - $v01/cache-dump/cache.prof "$work/hostile/cache.prof" <<'END'
import sys
old = open(sys.argv[1], "rb").read()
new = old.replace(b"pervasives.ml", b'p\xff"\\ / \x01\xc3\xa9\xc3ml')
assert new != old and len(new) == len(old)
open(sys.argv[2], "wb").write(new)
END
cp $cache0 "$work/hostile/heap.dump.8975.0"
zstd -dqf $cache2 -o "$work/hostile/heap.dump.8975.2"
zstd -dqf $cache5 -o "$work/hostile/heap.dump.8975.5"
stands_for 'hostile names' "$work"/hostile/heap.dump.8975.{0,2} -- "$work/hostile/heap.dump.8975.5"
"$hg" trend -o "$work/base.json" "$work/hostile/heap.dump.8975.0"
check 'hostile names: they are there' jq -e '[.names[].name | contains("p\\xFF\"\\\\ / \u0001\u00e9\\xC3ml")] | any' "$work/base.json"

# Partial snapshots
keys=(path type)
head -c 100000 $cache0 >"$work/heap.dump.8975.0"
options=(--partial --prof $v01/cache-dump/cache.prof)
stands_for 'a partial one' "$work/heap.dump.8975.0" -- $cache2
run check "${options[@]}" --max-total 100M "$work/base.json" $cache2
"$hg" trend "${options[@]}" -o "$work/base.json" "$work/heap.dump.8975.0" 2>/dev/null || true
refuses 'a partial one unasked' 3 check --max-total 100M "$work/base.json" $cache2
check 'a partial one unasked: how it is accepted' grep -q -e --partial "$work/err"
check_run 'a partial one: told by the exit status' 4 check --partial --max-total 100M "$work/base.json" $cache2

# What does not go together
"$hg" trend -o "$work/base.json" $cache0 $cache2
# wrong NAME TEXT ARGUMENT...: it is refused with these words.
wrong() {
	local name=$1 text=$2
	shift 2
	refuses "$name" 3 "$@"
	check "$name: says so" grep -qF -e "$text" "$work/err"
}
wrong 'another program' "of the program 'objs', the other of 'cache'" \
	check "$work/base.json" $v01/objs-dump/heap.dump.9001.0
wrong 'another program, the other way round' "of the program 'cache', the other of 'objs'" \
	check $v01/objs-dump/heap.dump.9001.0 "$work/base.json"
wrong 'another layout of headers' 'headers have another layout' check "$work/base.json" "$work/tiny-5.3.0.core"
wrong 'the same file twice' 'it is the same file' check "$work/base.json" "$work/base.json" $cache5
wrong 'other roots' '--roots all' check --roots all "$work/base.json" $cache5
wrong 'another key' '--by type' diff --by type "$work/base.json" $cache5
for cut in '--limit 5' '--min 100K' '--type session'; do
	# shellcheck disable=SC2086 # words
	"$hg" trend $cut -o "$work/cut.json" $cache0 $cache2
	wrong "rows left out by $cut" 'make it anew without' check "$work/cut.json" $cache5
done
"$hg" check --format json $cache0 $cache2 $cache5 >"$work/check.json" || true
wrong 'of another verb' 'of the verb "check"' diff "$work/check.json" $cache5
refuses 'a baseline where there must be a snapshot' 3 summary "$work/base.json"
run info "$work/base.json"
check 'info: says what it is' grep -q 'JSON that heapgraph wrote' "$work/out"

# spoil NAME TEXT PROGRAM: PROGRAM changes the document 'd' of Python, or its text 's'.
spoil() {
	python3 - "$work/base.json" "$work/spoiled.json" "$3" <<'END'
import json, sys
with open(sys.argv[1], "rb") as file:
    s = file.read()
d = json.loads(s)
before = s
exec(sys.argv[3])
if s is before:
    s = json.dumps(d).encode()
with open(sys.argv[2], "wb") as file:
    file.write(s)
END
	wrong "$1" "$2" check "$work/spoiled.json" $cache5
	check "$1: names the file" grep -qF 'spoiled.json: ' "$work/err"
}
spoil 'cut short' 'cut short' 's = s[:len(s) // 2]'
spoil 'nothing but a bracket' 'cut short' 's = b"{\""'
spoil 'an empty object' 'not of heapgraph' 's = b"{}"'
spoil 'something behind it' 'instead of the end of the file' 's += b"x"'
spoil 'another schema_version' 'schema_version is 3, not 2' 'd["schema_version"] = 3'
spoil 'no schema_version' 'not of heapgraph' 'del d["schema_version"]'
spoil 'of an older version' 'has no "names"' 'del d["names"]'
spoil 'twice the same member' '"rows" twice' 's = s.replace(b"\"names\":", b"\"rows\": [], \"names\":")'
spoil 'no snapshots' 'no snapshots' 'd["snapshots"] = []'
spoil 'snapshots out of order' 'not in order' 'd["snapshots"].reverse()'
spoil 'a negative number' "'bytes' is missing or is not a whole number" 'd["rows"][3]["bytes"] = -1'
spoil 'a fraction' "'bytes' is missing or is not" 'd["rows"][3]["bytes"] = 1.5'
spoil 'a huge number' "'bytes' is missing or is not" 'd["rows"][3]["bytes"] = 2**60'
spoil 'a number of 100 digits' 'too big integer' 'd["rows"][3]["bytes"] = 10**100'
spoil 'a string for a number' "'bytes' is missing or is not" 'd["rows"][3]["bytes"] = "8"'
spoil 'a number for a string' "'name' is missing or is not" 'd["names"][3]["name"] = 8'
spoil 'no such format' "'format' is none" 'd["snapshots"][0]["format"] = "x"'
spoil 'an object for an array' "instead of '['" 'd["rows"] = {}'
spoil 'a number for a row' 'instead of an object' 'd["rows"][3] = 5'
spoil 'a row in a row' 'brackets within each other' 'd["rows"][3]["bytes"] = {"x": 1}'
spoil 'deep nesting' 'brackets within each other' 's = b"{\"x\":" + b"[" * 100000000'
spoil 'deep nesting in a row' 'brackets within each other' 'd["rows"][3]["x"] = [[1]]'
spoil 'brackets that do not match' 'what closes the last bracket' 's = s.replace(b"\n  ],", b"\n  },", 1)'
spoil 'a row missing' 'do not add up' 'del d["rows"][3]'
spoil 'another number' 'do not add up' 'd["rows"][3]["bytes"] += 8'
spoil 'another retained number' 'do not add up' 'd["rows"][-1]["retained_bytes"] -= 1'
spoil 'another reachable number' 'do not add up' 'd["snapshots"][1]["reachable_bytes"] += 8'
spoil 'the same row twice' 'same row of a snapshot twice' 'd["rows"].append(d["rows"][3])'
spoil 'a row of no snapshot' 'that there is not' 'd["rows"][3]["index"] = 2'
spoil 'a row of no name' 'that there is not' 'd["rows"][3]["row"] = len(d["names"])'
spoil 'names out of order' 'not in order' 'd["names"][3]["row"] = 5'
spoil 'a parent that there is not' 'parent does not stand before it' 'd["names"][3]["parent"] = 10**9'
spoil 'its own parent' 'parent does not stand before it' 'd["names"][3]["parent"] = 3'
spoil 'two roots' 'parent does not stand before it' 'd["names"][3]["parent"] = None'
spoil 'two rows of one name' 'two rows of one name' \
	'd["names"][-1].update(name=d["names"][1]["name"], parent=d["names"][1]["parent"])'
spoil 'a path too deep' 'too deep' 'n = len(d["names"])
for i in range(600): d["names"].append({**d["names"][1], "row": n + i, "parent": n + i - 1 if i else 0, "name": "x"})'
spoil 'paths longer than the file' 'do not have their paths' 'n = len(d["names"])
d["names"].append({**d["names"][1], "row": n, "parent": 0, "name": "x" * 1000000})
for i in range(99): d["names"].append({**d["names"][1], "row": n + 1 + i, "parent": n, "name": str(i)})'
spoil 'a NUL' 'no valid JSON' 'd["names"][3]["name"] = "a\0b"'
spoil 'a NUL as a byte' 'byte 0x00' 's = s.replace(b"\"kind\"", b"\"ki\0nd\"", 1)'
spoil 'invalid UTF-8' 'no valid JSON' 's = s.replace(b"\"kind\": \"\"", b"\"kind\": \"\xff\"", 1)'
spoil 'half a surrogate' 'no valid JSON' 's = s.replace(b"\"kind\": \"\"", b"\"kind\": \"\\ud800\"", 1)'
spoil 'an escape that is none' 'whose backslashes' 'd["names"][3]["name"] = "a\\b"'
spoil 'an escape of a NUL' 'whose backslashes' 'd["names"][3]["name"] = "a\\x00"'
spoil 'a partial escape' 'whose backslashes' 'd["names"][3]["name"] = "a\\xF"'
spoil 'a value of 20 MB' 'bytes' 'd["names"][3]["name"] = "a" * 20000000'
spoil 'a member twice in a row' 'duplicate object key' 's = s.replace(b"\"index\": 0", b"\"index\": 0, \"index\": 0", 1)'
python3 -c 'print("{\"schema_version\":2,\"verb\":\"trend\",\"by\":\"path\",\"complete\":true,\"program\":\"\",\"rows\":[],\"snapshots\":[],\"names\":[" + ",".join(["{}"] * 10000000) + "]}")' \
	>"$work/spoiled.json"
wrong 'ten million rows of nothing' 'no snapshots' check "$work/spoiled.json" $cache5
check_equal 'JSON of others' "$(printf '{"snapshot":{}}' >"$work/v8.json"; "$hg" diff "$work/v8.json" $cache5 2>&1 |
	grep -c 'not of heapgraph')" 1
refuses 'more memory than allowed' 5 trend --max-memory 100K "$work/base.json"
