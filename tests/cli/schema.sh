#!/bin/bash
# What every verb writes with --format json is valid by docs/outputs.schema.json.
# shellcheck disable=SC2016 # a program of jq
. tests/cli/lib.sh

# The parts of JSON Schema that the file uses: prints what is wrong, with its place.
validator='
def is($wanted): if $wanted == "integer" then type == "number" and . == floor
	else type == $wanted end;
def wrong($schema; $place):
	. as $value |
	if $schema["$ref"] then
		wrong($root["$defs"][$schema["$ref"] | ltrimstr("#/$defs/")]; $place)
	else
		(if $schema | has("const") then
			select($value != $schema.const) | "\($place): not \($schema.const)"
		else empty end),
		(if $schema.type then
			select([$schema.type] | flatten | any(. as $one | $value | is($one)) | not) |
			"\($place): \($value | tojson) is no \($schema.type)"
		else empty end),
		(if ($value | type) == "number" and $schema.minimum then
			select($value < $schema.minimum) | "\($place): less than \($schema.minimum)"
		else empty end),
		(if ($value | type) == "object" then
			($schema.required // [] | .[] | select(. as $key | $value | has($key) | not) |
				"\($place): no \(.)"),
			($schema.properties // {} | to_entries[] | select(.key as $key | $value | has($key)) |
				. as $member | $value[$member.key] |
				wrong($member.value; "\($place).\($member.key)"))
		else empty end),
		(if ($value | type) == "array" and $schema.items then
			range(0; $value | length) as $i | $value[$i] | wrong($schema.items; "\($place)[\($i)]")
		else empty end)
	end;
first(wrong($root["$defs"][$name]; $name))'

# valid NAME FILE: by the definition of that name.
valid() {
	jq -r --arg name "$1" --argjson root "$(cat docs/outputs.schema.json)" "$validator" "$2" \
		>"$work/wrong" 2>&1 || echo 'jq failed' >>"$work/wrong"
	[ ! -s "$work/wrong" ] || {
		cat "$work/wrong"
		return 1
	}
}

# written NAME ARGUMENT...: heapgraph's JSON is valid by that name.
written() {
	local name=$1
	shift
	run "$@" --format json
	check "${*##*/}" valid "$name" "$work/out"
}

check 'the schema is JSON' jq -e '.oneOf | length >= 10' docs/outputs.schema.json
native=$fixtures/v02/objs-opt/memprof.28958.0.dump
ocp=$fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump
for dump in $tiny $native $ocp $v01/busy-hup/heap.dump.26916.0; do
	for verb in summary info tree objects; do
		written $verb $verb "$dump"
	done
	for key in location tag module root; do
		written top top --by $key "$dump"
	done
	address=$("$hg" objects --format csv "$dump" | columns address words |
		awk '$2 > 2 { print $1; exit }')
	written object object "$address" "$dump"
	written why why "$address" "$dump"
done
for key in location tag module root; do
	written diff diff --by $key $cache0 $cache2
	written trend trend --by $key $cache0 $cache2
done
written why why loc:cache.ml $cache0
written why why loc:no-such-thing $cache0
written info_refused info LICENSE
head -c 100000 $cache0 >"$work/heap.dump.8975.0"
written summary summary --partial "$work/heap.dump.8975.0"

# The validator finds something wrong.
run summary --format json $tiny
jq '.totals.blocks = "many"' "$work/out" >"$work/bad"
if valid summary "$work/bad" >"$work/said"; then
	not_ok 'control: a wrong type is found' 'not found'
else
	check 'control: and said where' grep -q 'summary.totals.blocks' "$work/said"
fi
