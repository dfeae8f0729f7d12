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
	[ -s "$2" ] || echo 'nothing written' >>"$work/wrong"
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
	for verb in summary info roots tree objects types; do
		written $verb $verb "$dump"
	done
	for key in location tag module root type type,location callstack; do
		written top top --by $key "$dump"
	done
	address=$("$hg" objects --format csv "$dump" | columns address words |
		awk '$2 > 2 { print $1; exit }')
	written object object "$address" "$dump"
	written why why "$address" "$dump"
done
for key in location tag module root type type,location callstack; do
	written diff diff --by $key $cache0 $cache2
	written trend trend --by $key $cache0 $cache2
done
written why why loc:cache.ml $cache0
written why why loc:no-such-thing $cache0
written roots roots --type no-such-type $cache0
written info_refused info LICENSE
head -c 100000 $cache0 >"$work/heap.dump.8975.0"
written summary summary --partial "$work/heap.dump.8975.0"

# With types.
for core in "$fixtures"/cores/tiny-*.core.zst; do
	typed=(--prof "${core%.core.zst}.prof.zst" "$core")
	for verb in summary 'summary --outside' roots tree objects types 'types --all' 'types --clashes' \
		'top --by type' 'top --by type,location' 'why type:option'; do
		# shellcheck disable=SC2086 # words
		written "${verb%% *}" $verb "${typed[@]}"
	done
	for redact in '' --redact; do
		while read -r address; do
			# shellcheck disable=SC2086
			written object object "$address" $redact "${typed[@]}"
		done < <("$hg" objects --format csv "${typed[@]}" | columns type address | sort -u -k 1,1 |
			awk -F '\t' 'NR % 12 == 1 { print $2 }')
	done
done

# Cores of real programs, with fibers, ephemerons and samples.
if has_cores; then
	unpack_cores lib 413-cache 53-fib 53-mprof
	for name in 413-cache/cache 53-fib/fib 53-mprof/mprof; do
		core=("$work/${name%/*}/core" --exe "$work/$name" --libraries "$work/lib")
		# Some thousand rows are enough of this slow check.
		for verb in summary info 'roots --limit 2000' 'tree --depth 3' 'objects --limit 2000'; do
			# shellcheck disable=SC2086 # words
			written "${verb%% *}" $verb "${core[@]}"
		done
		for key in location tag module root; do
			written top top --by $key --limit 2000 "${core[@]}"
		done
		written why why root:caml_signal_handlers "${core[@]}"
		"$hg" objects --format csv "${core[@]}" | columns tag address |
			sort -u -k 1,1n >"$work/tags"
		while read -r tag address; do
			run object "$address" --format json "${core[@]}"
			check "$name: object of tag $tag" valid object "$work/out"
		done <"$work/tags"
	done
	written diff diff "$work/53-mprof/core.fork" "${core[@]}"
else
	skip 'JSON of cores of real programs' "none in $cores"
fi

# The validator finds something wrong.
run summary --format json $tiny
jq '.totals.blocks = "many"' "$work/out" >"$work/bad"
if valid summary "$work/bad" >"$work/said"; then
	not_ok 'control: a wrong type is found' 'not found'
else
	check 'control: and said where' grep -q 'summary.totals.blocks' "$work/said"
fi
