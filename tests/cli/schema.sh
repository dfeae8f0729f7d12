#!/bin/bash
# What every verb writes with --format json is valid by docs/outputs.schema.json.
. tests/cli/lib.sh

mkdir "$work/written"
: >"$work/list"
count=0

# remember NAME LABEL FILE: it is to be valid by the definition of that name.
remember() {
	count=$((count + 1))
	cp "$3" "$work/written/$count"
	printf '%s\t%s\t%s\n' "$1" "$2" "$work/written/$count" >>"$work/list"
}

# name_of_schema VERB: what it writes with these options, in the schema.
name_of_schema() {
	case $1 in
	'tree --blocks') echo tree_blocks ;;
	*) echo "${1%% *}" ;;
	esac
}

# written NAME ARGUMENT...: heapgraph's JSON is valid by that name.
written() {
	local name=$1
	shift
	run "$@" --format json
	remember "$name" "${*##*/}" "$work/out"
}

check 'the schema is JSON' jq -e '.oneOf | length >= 10' docs/outputs.schema.json
native=$fixtures/v02/objs-opt/memprof.28958.0.dump
ocp=$fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump
for dump in $tiny $native $ocp $v01/busy-hup/heap.dump.26916.0; do
	for verb in summary info roots tree 'tree --blocks' objects edges types waste; do
		# shellcheck disable=SC2086 # words
		written "$(name_of_schema "$verb")" $verb "$dump"
	done
	for key in location tag module root type type,location callstack function; do
		written top top --by $key "$dump"
	done
	address=$("$hg" objects --format csv "$dump" | columns address words |
		awk '$2 > 2 { print $1; exit }')
	written object object "$address" "$dump"
	written why why "$address" "$dump"
	written why_referrers why --referrers "$address" "$dump"
	written retained retained "$address" string "$dump"
done
for key in path location tag module root type type,location callstack function; do
	written diff diff --by $key $cache0 $cache2
	written trend trend --by $key $cache0 $cache2
done
"$hg" trend -o "$work/base.json" $cache0 $cache2
written trend trend "$work/base.json"
written trend trend --limit 5 "$work/base.json" $cache5
written diff diff "$work/base.json" $cache5
written check check "$work/base.json" $cache5
written holders holders $cache5
written summary summary --memtrace $fixtures/cores/traced-4.13.1.ctf $fixtures/cores/traced-4.13.1.core.zst
written check check $cache0 $cache2 $cache5
written check check --max-growth 1000% $cache0 $cache2
written why why loc:cache.ml $cache0
written roots roots --type no-such-type $cache0
written info_refused info LICENSE
for trace in leak-1e-4 bad-longline-bytecode; do
	written trace_info trace info $fixtures/memtrace/$trace.ctf
	written trace_rows trace sites $fixtures/memtrace/$trace.ctf
	written trace_rows trace functions $fixtures/memtrace/$trace.ctf
	written trace_hot_paths trace hot-paths $fixtures/memtrace/$trace.ctf
	written trace_live trace live $fixtures/memtrace/$trace.ctf
	for option in '' --compat '--table statistics'; do
		# shellcheck disable=SC2086 # words
		written trace_sizes trace sizes $option $fixtures/memtrace/$trace.ctf
		# shellcheck disable=SC2086
		written trace_lifetimes trace lifetimes $option $fixtures/memtrace/$trace.ctf
	done
	written trace_tree trace tree $fixtures/memtrace/$trace.ctf
	written trace_tree trace callers $fixtures/memtrace/$trace.ctf
	written trace_tree trace tree --from allocation $fixtures/memtrace/$trace.ctf
done
for key in location function file tree; do
	written trace_diff trace diff --by $key $fixtures/memtrace/trees-1e-6.ctf $fixtures/memtrace/leak-1e-4.ctf
	[ $key = function ] || written trace_diff_series trace diff --by $key \
		$fixtures/spacetime/p1-4.04.2.spacetime.zst $fixtures/spacetime/p12-4.11.1.spacetime.zst
done
for series in p1-4.04.2 p12-4.11.1; do
	written trace_info_series trace info $fixtures/spacetime/$series.spacetime.zst
	written trace_top trace top $fixtures/spacetime/$series.spacetime.zst
	written trace_trend trace trend $fixtures/spacetime/$series.spacetime.zst
	[ "$series" = p1-4.04.2 ] || written trace_calls trace calls $fixtures/spacetime/$series.spacetime.zst
	written trace_tree_series trace tree $fixtures/spacetime/$series.spacetime.zst
done
head -c 100000 $cache0 >"$work/heap.dump.8975.0"
written summary summary --partial "$work/heap.dump.8975.0"

# With types.
for core in "$fixtures"/cores/tiny-*.core.zst; do
	typed=(--prof "${core%.core.zst}.prof.zst" "$core")
	for verb in summary 'summary --outside' roots tree 'tree --blocks' objects types 'types --all' 'types --clashes' 'types Tiny' 'types --places' \
		'top --by type' 'top --by type,location' 'why type:option' 'retained type:option root:stack'; do
		# shellcheck disable=SC2086 # words
		written "$(name_of_schema "$verb")" $verb "${typed[@]}"
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
		# Some hundred rows are enough: one is like the other.
		for verb in summary info 'roots --limit 300' 'tree --depth 3' 'objects --limit 300'; do
			# shellcheck disable=SC2086 # words
			written "${verb%% *}" $verb "${core[@]}"
		done
		for key in location tag module root; do
			written top top --by $key --limit 300 "${core[@]}"
		done
		written why why root:caml_signal_handlers "${core[@]}"
		"$hg" objects --format csv "${core[@]}" | columns tag address |
			sort -u -k 1,1n >"$work/tags"
		while read -r tag address; do
			run object "$address" --format json "${core[@]}"
			remember object "$name: object of tag $tag" "$work/out"
		done <"$work/tags"
	done
	written diff diff "$work/53-mprof/core.fork" "${core[@]}"
else
	skip 'JSON of cores of real programs' "none in $cores"
fi

tests/cli/validate.py docs/outputs.schema.json "$work/list"

# What is wrong is found.
run summary --format json $tiny
jq '.totals.blocks = "many"' "$work/out" >"$work/bad"
printf 'summary\tcontrol\t%s\n' "$work/bad" >"$work/list"
check 'control: a wrong type is found, and said where' grep -q '^not ok control: .*totals/blocks' \
	<(tests/cli/validate.py docs/outputs.schema.json "$work/list")
