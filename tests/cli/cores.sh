#!/bin/bash
# Cores of programs that say what is true of them, those of tests/fixtures/cores and larger ones
# (README.md there): what Gc.stat and Obj.reachable_words say, roots, samples; the same from stripped
# executables, from every way to take a core, and from compressed files.
# shellcheck disable=SC2016 # programs of awk
. tests/cli/lib.sh

# ask FILE VERB ARGUMENT...: heapgraph's answer about $core of $executable.
ask() {
	local file=$work/$1
	shift
	run "$@" ${executable:+--exe "$executable" --libraries "$work/lib"} "$core"
	[ "$status" -eq 0 ] || not_ok "$name: $1" "exit $status: $(gist "$work/err")"
	cp "$work/out" "$file"
}

# root NAME-PATTERN COLUMN...: of the roots whose name matches.
root() {
	local pattern=$1
	shift
	columns name "$@" <"$work/roots" | awk -F '\t' -v OFS='\t' -v pattern="$pattern" '
		$1 ~ pattern { $1 = ""; print substr($0, 2) }'
}

is_5() {
	case $name in 53-* | *-5.*) return 0 ;; *) return 1 ;; esac
}

# look FOLDER [EXECUTABLE [CORE]]: asks everything that is looked at.
look() {
	name=$1 truth=$work/$1/out.txt
	core=$work/$1/${3-core} executable=${2:+$work/$1/$2}
	ask summary summary --format json
	ask objects objects --format csv
	ask roots top --by root --format csv
	columns address tag words segment reachable <"$work/objects" >"$work/blocks"
}

# Gc.stat of OCaml 5 has two more words for every large block, 128 words with its header or more.
# 413-mprof went on after it had printed: three blocks, 19 words, out of two free blocks and another.
check_counters() {
	local blocks words free free_blocks extra=0
	blocks=$(said STAT live_blocks) words=$(said STAT live_words)
	free=$(said STAT free_words) free_blocks=$(said STAT free_blocks)
	! is_5 || extra=2
	if [ "$name" = 413-mprof ]; then
		blocks=$((blocks + 3)) words=$((words + 19))
		free=$((free - 19)) free_blocks=$((free_blocks - 2))
	fi
	check_equal "$name: live blocks of Gc.stat" "$(total live_blocks)" "$blocks"
	check_equal "$name: live words of Gc.stat" "$(total live_words)" "$words"
	check_equal "$name: free words of Gc.stat" "$(total free_bytes)" $((8 * free))
	check_equal "$name: free blocks of Gc.stat" "$(total free_blocks)" "$free_blocks"
	check_equal "$name: fragments of Gc.stat" "$(total fragment_bytes)" \
		$((8 * $(said STAT fragments)))
	check_equal "$name: heap words of Gc.stat" "$(total heap_bytes)" \
		$((8 * $(said STAT heap_words)))
	check_equal "$name: blocks and words listed" "$(awk -v extra=$extra '$4 == "heap" {
		blocks++
		words += $3 + 1 + ($3 >= 128 ? extra : 0)
	} END { print blocks, words }' "$work/blocks")" "$blocks $words"
	check_equal "$name: blocks listed more than once, or not in order" \
		"$(cut -f 1 "$work/blocks" | sort -uc 2>&1)" ''
}

# Every block of the major heap is reached; in 413-mprof 967 call stacks and an Abstract block of 5
# words, which the program has dropped, are still there.
check_reached() {
	local wanted=''
	[ "$name" != 413-mprof ] || wanted='0 967 251:5 1 '
	check_equal "$name: blocks of the heap that are not reached" "$(awk '
		$4 == "heap" && $5 == 0 { print ($2 >= 251 ? $2 ":" $3 : $2) }' "$work/blocks" |
		sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }')" "$wanted"
	check_equal "$name: dangling pointers" "$(total dangling_pointers)" 0
	check_equal "$name: reconciliation" "$(jq '[.reconciliation[]] | all' "$work/summary")" true
}

# All that Obj.reachable_words said, counted by another program in the memory of the core.
check_reach() {
	local value address got is_static=0
	! is_5 || is_static=1
	sed -n 's/^ADDR //p' "$work/$name/out.txt" | while IFS='=' read -r value address; do
		said REACH "$value" | grep -q . && echo "$value $address"
	done >"$work/values" || true
	[ -s "$work/values" ] || return 0
	# shellcheck disable=SC2046 # one word for each address
	"$BUILD/reach" "$core" <(awk '{ print $1, $3, $4 }' "$work/blocks") \
		"$(jq .snapshot.reserved_bits "$work/summary")" $is_static \
		$(cut -d ' ' -f 2 "$work/values") >"$work/reached" 2>"$work/err" ||
		not_ok "$name: reach" "$(gist "$work/err")"
	while read -r value address got; do
		check_equal "$name: reachable words of $value" "$got" "$(said REACH "$value")"
		values=$((values + 1))
	done < <(paste -d ' ' "$work/values" "$work/reached")
}

# What is the same of a stripped executable: all but the names of C globals, which are addresses
# then ("cache+0x150778" for "g_root2"); those outside of the executable are "C root" anyway.
essence() {
	sed 's/,C global [^,]*$/,C global/' "$work/objects"
	columns kind name blocks bytes retained_bytes confidence <"$work/roots" |
		awk -F '\t' -v OFS='\t' '$1 == "C global" { $2 = "" } 1' | sort
	jq -S '[.totals, .reconciliation, .roots]' "$work/summary"
}

check_stripped() {
	essence >"$work/essence"
	look "$1" "$2.stripped"
	essence >"$work/stripped"
	check_same "$1: stripped, the same blocks and roots" "$work/stripped" "$work/essence"
	check_equal "$1: stripped, C globals have addresses" \
		"$(columns kind name <"$work/roots" | awk -F '\t' -v exe="$2" '
			$1 == "C global" && $2 !~ "^" exe "\\+0x[0-9a-f]+$" && $2 != "C root"')" ''
}

# The same process in the same state, by the kernel, by a fork of the process, and by gdb.
check_captures() {
	local capture
	essence >"$work/essence"
	cp "$work/objects" "$work/objects.kernel"
	cp "$work/roots" "$work/roots.kernel"
	for capture in core.fork core.gcore; do
		look "$1" "$2" "$capture"
		check_same "$1: objects of $capture" "$work/objects" "$work/objects.kernel"
		check_same "$1: roots of $capture" "$work/roots" "$work/roots.kernel"
		essence >"$work/other"
		check_same "$1: totals of $capture" "$work/other" "$work/essence"
	done
}

# check_waiting FOLDER [EXECUTABLE]
check_waiting() {
	look "$@"
	check_counters
	check_reached
	check_reach
}

# cache.ml and stubs.c: fields of the module, C roots, locals of threads, what lies outside.
check_cache_roots() {
	local field value thread
	for field in 2:cache 3:index 4:handlers 5:lazies; do
		value=${field#*:}
		ask "$value" why "0x$(sed -n "s/^ADDR $value=//p" "$work/$name/out.txt")" --format json
		check_equal "$name: $value is held by" \
			"$(jq -r '.steps[0].address' "$work/$value")" "global Cache[${field%:*}]"
	done
	check_equal "$name: C roots" "$(root '^g_root[12]$' bytes retained_bytes | tr '\t\n' ', ')" \
		'1608,4808 24,4000 '
	check_equal "$name: a named value" "$(root '^my.named$' retained_bytes)" 3200
	for thread in 1 2 3; do
		# A closure over a list of 1000 pairs of an integer and a string.
		check_equal "$name: on the stack of thread $thread" \
			"$(root "^Cache\\..*deep cache.ml:73:36-56 \\(thread $thread\\)" retained_bytes)" 64032
	done
	check_equal "$name: local roots" "$(jq '.roots[] | select(.kind == "local").roots' \
		"$work/summary")" 3
	check_offheap 32000
}

# fib.ml: continuations, domains.
check_fibers() {
	local domain
	check_equal "$name: suspended fibers" "$(root '^suspended fiber' blocks | wc -l)" \
		$(($(said COUNTS suspended) + $(said COUNTS nested)))
	for domain in 1 2 3; do
		# A list of 500 pairs.
		check_equal "$name: data of domain $domain" \
			"$(root "^Domain.DLS \\(domain $domain\\)" retained_bytes)" 24144
		# A closure over a list of 1000 floats.
		check_equal "$name: on the stack of domain $domain" \
			"$(root "^Fib\\..*fib.ml:43:26-45 \\(domain $domain\\)" retained_bytes)" 40032
	done
}

# Samples: as many as there are entries, where the other reader saw them allocated.  It lists the
# commonest call stacks only, which for all but mprof.ml:4 are all of their innermost place.
check_samples() {
	local entries
	entries=$(sed -nE 's/^tracked entries ([0-9]+) .*/\1/p' "$cores/$name/prototype-memprof.log")
	check_equal "$name: blocks with a location" "$(total located_blocks)" "$entries"
	ask locations top --by location --format csv
	sed -nE 's/^([0-9]+) [0-9]+ ([^ ]+) .*/\2\t\1/p' "$cores/$name/prototype-memprof.log" |
		grep -v '^mprof.ml:4:' | sort >"$work/wanted"
	columns location blocks <"$work/locations" | sort >"$work/got"
	check_equal "$name: blocks of the commonest places" "$(comm -23 "$work/wanted" "$work/got")" ''
	check "$name: places to compare" test "$(wc -l <"$work/wanted")" -ge 4
	check_offheap 100000
}

# check_threads FOLDER [EXECUTABLE]: two threads answer like one.
check_threads() {
	look "$@"
	essence >"$work/essence"
	ask objects objects --format csv --threads 2
	ask summary summary --format json --threads 2
	ask roots top --by root --format csv --threads 2
	essence >"$work/threads"
	check_same "$1: two threads" "$work/threads" "$work/essence"
}

# unpack_fixture NAME: as the others are.
unpack_fixture() {
	mkdir "$work/$1"
	zstd -dqf "$fixtures/cores/$1.core.zst" -o "$work/$1/core"
	cp "$fixtures/cores/$1.txt" "$work/$1/out.txt"
}

# Bytes outside the heap by what owns them: Bigarrays, which have 5 words and one for each dimension,
# and what has the address of a structure only; stdin, stdout and stderr have a buffer each.
check_offheap() {
	columns words offheap_bytes <"$work/objects" >"$work/owners"
	check_equal "$name: outside the heap, bigarrays" \
		"$(awk '$1 >= 6 { sum += $2 } END { print sum + 0 }' "$work/owners")" "$1"
	check_equal "$name: outside the heap, buffers of channels" \
		"$(awk '$1 == 2 && $2 > 65536 && $2 < 66000' "$work/owners" | wc -l)" 3
	check_equal "$name: outside the heap, all" "$(total offheap_bytes)" \
		"$(awk '{ sum += $2 } END { print sum }' "$work/owners")"
}

# zoo.ml and stubs.c: C roots, a named value, a list on the stack of each thread.
check_zoo_roots() {
	local thread
	check_equal "$name: C roots" \
		"$(root '^(old_style|generational)$' bytes retained_bytes | tr '\t\n' ', ')" \
		'1608,4808 24,4000 '
	check_equal "$name: a named value" "$(root '^heapgraph.tests.named$' retained_bytes)" 3200
	for thread in 1 2 3; do
		check_equal "$name: on the stack of thread $thread" \
			"$(root "^Zoo.descend zoo.ml:213:4-20 \\(thread $thread\\)" retained_bytes)" \
			$((144 + 4000 * (4 - thread)))
	done
	check_offheap $((15 * (800 + 1000)))
}

# fibers.ml: continuations, domains.
check_fiber_roots() {
	local domain
	check_equal "$name: suspended fibers" "$(root '^suspended fiber' blocks | wc -l)" 5
	for domain in 1 2 3; do
		# A list of 200 pairs with a string.
		check_equal "$name: data of domain $domain" \
			"$(root "^Domain.DLS \\(domain $domain\\)" retained_bytes)" 12944
		# An array of 300 strings, a list of 50 floats.
		check_equal "$name: on the stack of domain $domain" "$(root \
			"^Fibers.domain.\\(fun\\) fibers.ml:76:6-22 \\(domain $domain\\)" retained_bytes |
			sort -n | tr '\n' ' ')" '2000 7248 '
	done
}

values=0
for fixture in zoo-4.13.1 zoo-5.3.0 zoo-5.4.1 fibers-5.3.0 fibers-5.5.2 sampled-5.3.0; do
	unpack_fixture $fixture
	check_waiting $fixture
	case $fixture in
	zoo-*) check_zoo_roots ;;
	fibers-*) check_fiber_roots ;;
	sampled-*)
		check_equal "$name: blocks with a location" "$(total located_blocks)" \
			"$(said TRACKED live)"
		;;
	esac
done
check_equal 'values of fixtures whose reachable words were compared' $values 84
check_threads zoo-4.13.1
check_threads fibers-5.3.0
check_threads fibers-5.5.2

if ! has_cores; then
	skip 'larger cores, stripped executables, three ways to take a core' "none in $cores"
	exit 0
fi
values=0
unpack_cores lib 413-cache 53-cache 53-fib 413-mprof 53-mprof 413-dyn
for folder in 413-cache 53-cache; do
	check_waiting $folder cache
	check_cache_roots
	check_stripped $folder cache
done
check_waiting 53-fib fib
check_fibers
check_stripped 53-fib fib
check_waiting 413-dyn maind
check_equal '413-dyn: a global of the plugin' "$(root '^Plug\[1\]$' blocks)" 1
for folder in 413-mprof 53-mprof; do
	check_waiting $folder mprof
	check_samples
	check_captures $folder mprof
done
check_equal 'values whose reachable words were compared' $values 28

# Compressed files are as good, and so are two threads.
look 413-cache cache
core=$cores/413-cache/core.zst executable=$cores/413-cache/cache.zst
run objects --format csv --exe "$executable" --libraries "$cores/lib" "$core"
check_same '413-cache: compressed core, executable and libraries' "$work/out" "$work/objects"
check_threads 413-cache cache
check_threads 53-fib fib
