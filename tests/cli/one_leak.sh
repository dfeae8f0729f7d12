#!/bin/bash
# One leak in two structures: what trend, check and the chart say of records that a table and a list
# hold, in a baseline made here; all numbers follow from ten records more in each snapshot.
. tests/cli/lib.sh

# A record M.state of a table, a list and an array, which gets larger; records of 48 bytes with a string
# of 24, cells of 24 and 32.
python3 - "$work" <<'END'
import json, sys
def snapshot(position, index, size):
    return {"position": position, "file": "f%d" % index, "pid": 1, "index": index, "time_ns": None, "blocks": 999, "bytes": 99999,
            "reachable_blocks": 999, "reachable_bytes": size, "offheap_bytes": 0, "format": "elfcore", "title": "",
            "program": "p", "trigger": "", "ocaml_version": "5.3.0", "native": True, "reserved_bits": 0, "word_size": 8,
            "file_bytes": 5, "location_source": "", "location_note": "", "type_source": "", "type_note": "",
            "roots": "lasting", "partial": "", "partial_offset": None}
#       parent, name, made at, bytes of a block, blocks in the first snapshot and more in each
tree = [(None, "all roots", "", 0, 0, 0), (0, "global M.state", "", 0, 0, 0), (1, "M.state", "m.ml:2", 24, 1, 0),
        (2, "M.user", "m.ml:5", 48, 300, 100), (3, "string", "", 24, 300, 100),
        (2, "(int, M.user) Hashtbl.t", "", 40, 1, 0), (5, "M.bucket", "hashtbl.ml:9", 32, 300, 100),
        (2, "M.user list", "m.ml:6", 24, 300, 100), (0, "global M.log", "", 0, 0, 0), (8, "M.entry", "m.ml:9", 16, 300, 250),
        (2, "M.user array", "m.ml:7", 4096, 1, 0)]
names, rows, sizes = [], [], []
for row, (parent, name, made_at, size, _, _) in enumerate(tree):
    names.append({"row": row, "parent": parent, "kind": "", "name": name, "is_root": int(parent == 0), "passes": 0,
                  "memprof": 0, "is_inside": 0, "made_at": made_at, "defined_at": "m.ml:1" if row else "", "held_by": ""})
for i in range(4):
    own = [size * (first + i * more) for _, _, _, size, first, more in tree]
    own[10] += 1600 * i
    retained = own[:]
    for row in range(len(tree) - 1, 0, -1):
        retained[tree[row][0]] += retained[row]
    sizes.append(retained[0])
    rows += [{"index": i, "row": row, "blocks": tree[row][4] + i * tree[row][5] if tree[row][3] else 0,
              "bytes": own[row], "retained_bytes": retained[row], "offheap_bytes": 0, "retained_offheap_bytes": 0}
             for row in range(1, len(tree))]

def write(name, first, end):
    document = {"schema_version": 2, "verb": "trend", "by": "path", "complete": True, "program": "p",
                "snapshots": [snapshot(i, first + i, sizes[first + i]) for i in range(end - first)], "names": names,
                "sharing": [{"row": 3, "holder": 6}, {"row": 3, "holder": 7},
                            {"row": 3, "holder": 10}],
                "rows": [dict(row, index=row["index"] - first) for row in rows if first <= row["index"] < end]}
    with open(sys.argv[1] + "/" + name, "w") as file:
        json.dump(document, file)
write("base.json", 0, 4)
write("old.json", 0, 3)
write("new.json", 3, 4)
END
state='global M.state / M.state'

run trend "$work/base.json"
check_equal 'trend: the heaviest stands for them' "$(sed -n '/^What grows/,/^$/p' "$work/out")" \
	"What grows at every step, most likely a leak
  * +21.1 KB (39.1 % of the growth, 78.3 % with what is in step): 300 -> 600 blocks
      global M.state
        M.state
          M.user
    made at m.ml:5
    the root is defined at m.ml:1
    in step with it +9.4 KB, 17.4 %, made at hashtbl.ml:9: $state / (int, M.user) Hashtbl.t / M.bucket
    in step with it +7.0 KB, 13.0 %, made at m.ml:6: $state / M.user list
    in step with it +4.7 KB, 8.7 %, made at m.ml:7: $state / M.user array
  * +11.7 KB (21.7 % of the growth): 300 -> 1,050 blocks
      global M.log
        M.entry
    made at m.ml:9
    the root is defined at m.ml:1"
check_equal 'trend: what is told is not told again' "$(sed -n '/^What else/,$p' "$work/out" | tail -n +2)" '  nothing'
run trend --format csv "$work/base.json"
check_equal 'trend as CSV: shares' "$(columns index grows growth_share path <"$work/out" |
	awk -F '\t' '$1 == 3 && $3 > 1000 && $4 != "global M.state" { print $2, $3, $4 }')" "1 7826 $state / M.user
1 2173 global M.log / M.entry
0 7826 $state
0 2173 global M.log
0 1739 $state / (int, M.user) Hashtbl.t
0 1739 $state / (int, M.user) Hashtbl.t / M.bucket
0 1304 $state / M.user / string
0 1304 $state / M.user list"
run trend --format json "$work/base.json"
check_equal 'trend as JSON: what is part of what' "$(jq -r '[.rows[] | select(.index == 3)] |
	(map({key: (.row | tostring), value: .path}) | from_entries) as $path | .[] | select(.part_of != null) |
	.path + ": " + $path[.part_of | tostring]' "$work/out")" \
	"$state / (int, M.user) Hashtbl.t / M.bucket: $state / M.user
$state / M.user list: $state / M.user
$state / M.user array: $state / M.user"

check_run 'check fails for it' 1 check --junit "$work/junit.xml" "$work/old.json" "$work/new.json"
check_equal 'check: in words' "$(head -n 7 "$work/out")" "  FAIL      $state / M.user
            grows at every step, 21.1 KB -> 42.2 KB, 39.1 % of the growth, 78.3 % with what is in step (limit: 5 % \
of the growth)
            made at m.ml:5
            the root is defined at m.ml:1
            in step with it +9.4 KB, 17.4 %, made at hashtbl.ml:9: $state / (int, M.user) Hashtbl.t / M.bucket
            in step with it +7.0 KB, 13.0 %, made at m.ml:6: $state / M.user list
            in step with it +4.7 KB, 8.7 %, made at m.ml:7: $state / M.user array"
check_equal 'JUnit: the same' "$(python3 -c 'import sys, xml.etree.ElementTree as tree
print(tree.parse(sys.argv[1]).find(".//failure").text)' "$work/junit.xml" | grep '^in step')" \
	"in step with it +9.4 KB, 17.4 %, made at hashtbl.ml:9: $state / (int, M.user) Hashtbl.t / M.bucket
in step with it +7.0 KB, 13.0 %, made at m.ml:6: $state / M.user list
in step with it +4.7 KB, 8.7 %, made at m.ml:7: $state / M.user array"
run check --format json "$work/old.json" "$work/new.json"
check_equal 'check as JSON: failures' "$(jq -c '.rows[] | [.path, .growth_share]' "$work/out")" \
	"[\"$state / M.user\",7826]
[\"global M.log / M.entry\",2173]"
check_equal 'check as JSON: their parts' "$(jq -c '.parts[] | [.path, .part_of, .growth_share, .made_at]' "$work/out")" \
	"[\"$state / (int, M.user) Hashtbl.t / M.bucket\",\"$state / M.user\",1739,\"hashtbl.ml:9\"]
[\"$state / M.user list\",\"$state / M.user\",1304,\"m.ml:6\"]
[\"$state / M.user array\",\"$state / M.user\",869,\"m.ml:7\"]"
echo "$state / M.user until 2999-01-01: known" >"$work/known"
run check --suppress "$work/known" "$work/old.json" "$work/new.json"
check_equal 'check: suppressed with its parts' "$(grep -c FAIL "$work/out")" 1
run trend -o "$work/chart.svg" "$work/base.json"
check 'the chart says it' grep -q '39.1 % of the growth, 78.3 % with what is in step' "$work/chart.svg"
check_equal 'the chart: what is in step follows' "$(grep -o 'in step with 1: [0-9.]* %' "$work/chart.svg")" \
	"in step with 1: 17.4 %
in step with 1: 13.0 %
in step with 1: 8.7 %"

# As files of before have it, and others.
jq 'del(.sharing)' "$work/base.json" >"$work/before.json"
run trend --format csv "$work/before.json"
check_equal 'nothing is known of sharing: each by itself' "$(columns index grows path <"$work/out" |
	awk -F '\t' '$1 == 3 && $2 == 1' | wc -l)" 4
for row in 0 11 '"x"' null; do
	jq ".sharing[1].row = $row" "$work/base.json" >"$work/spoiled.json"
	refuses "no such row: $row" 3 trend "$work/spoiled.json"
	jq ".sharing[1].holder = $row | if $row == 0 then .sharing[1].row = 99 else . end" "$work/base.json" \
		>"$work/spoiled.json"
	refuses "no such holder: $row" 3 trend "$work/spoiled.json"
done
