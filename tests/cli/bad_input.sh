#!/bin/bash
# Files that are no good: exit 3, one line 'heapgraph: FILE: what, at offset N' on stderr, nothing on
# stdout, no output file, no hang, and no memory that the file does not justify.
. tests/cli/lib.sh

base=$((0x7f0000000000))
bad=$work/heap.dump.7.0

head_of_dump() {
	byte 8
	word 3
	printf 'abc'
}

# chunk START END; block ADDRESS TAG WORDS FIELD...
chunk() {
	byte 0
	words "$@"
}

block() {
	local address=$1 tag=$2 size=$3
	shift 3
	byte 1
	word "$address"
	byte "$tag"
	words "$size" 10 "$@"
}

# tail_of_dump [GLOBALS]: no code, bytecode, empty stack, one root.
tail_of_dump() {
	byte 255
	words 0 0 3 "${1:-$((base + 8))}" 1 0 "${1:-$((base + 8))}" 1
}

small_dump() {
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 2 $((base + 32)) 3
	block $((base + 32)) 252 1
	tail_of_dump
}

# made NAME WANTED: the dump made on stdin is refused (3) or read (0).
made() {
	cat >"$bad"
	if [ "$2" -eq 3 ]; then
		refuses "$1" 3 offset objects --format csv "$bad"
	else
		check_run "$1" "$2" objects --format csv "$bad"
	fi
}

small_dump | made 'control: a small dump made by hand is read' 0
check_equal 'control: its blocks' "$(columns address words reachable idom <"$work/out" | tr '\t\n' ' |')" \
	'0x7f0000000008 2 1 root|0x7f0000000020 1 1 0x7f0000000008|'

# What is no file at all, or the wrong one
: >"$work/empty"
mkdir "$work/folder"
mkfifo "$work/fifo"
zstd -q -c LICENSE >"$work/text.zst"
printf 'no zstd' >"$work/none.zst"
zstd -q -c $tiny | head -c 900 >"$work/heap.dump.29370.0.zst"
refuses 'missing file' 3 top "$work/missing"
refuses 'empty file' 3 top "$work/empty"
refuses 'directory' 3 top "$work/folder"
refuses 'FIFO without a writer' 3 top "$work/fifo"
refuses 'character device' 3 top /dev/null
refuses 'endless device' 3 top /dev/zero
refuses 'text' 3 top LICENSE
refuses 'program' 3 top "$hg"
refuses 'compressed text' 3 top "$work/text.zst"
head -c 1G /dev/zero | zstd -q >"$work/zeros.zst"
refuses 'a gigabyte of zeros, compressed' 3 top "$work/zeros.zst"
refuses 'a name in .zst that is not compressed' 3 top "$work/none.zst"
refuses 'compressed dump cut short' 3 top "$work/heap.dump.29370.0.zst"
if [ "$(id -u)" -eq 0 ]; then
	skip 'unreadable file' 'root reads everything'
else
	cp $tiny "$work/unreadable"
	chmod 0 "$work/unreadable"
	refuses 'unreadable file' 3 top "$work/unreadable"
fi
for verb in summary info top roots tree 'why x' 'retained x' objects edges waste dot diff; do
	files=LICENSE
	[ "$verb" != diff ] || files="$tiny LICENSE"
	rm -f "$work/written"
	# shellcheck disable=SC2086 # words
	run $verb -o "$work/written" $files
	check_equal "$verb of text: exit status" "$status" 3
	check "$verb of text: one line" one_line
	[ "$verb" = info ] || check "$verb of text: no file" test ! -e "$work/written"
done
refuses 'trend with a bad one in the middle' 3 trend $tiny LICENSE $tiny
run info LICENSE
check_equal 'info of text: exit status' "$status" 3
check 'info of text: says what it is' grep -q '^  what  *[a-z]' "$work/out"
for what in empty folder fifo; do
	run info "$work/$what"
	check "info of $what: exit status and one line" test "$status" -eq 3 -a "$(wc -l <"$work/err")" -eq 1
done
run info "$hg"
check 'info of a program: says ELF' grep -q 'ELF' "$work/out"
run info $v01/tiny/t1.prof
check 'info of a .prof: exit status' test "$status" -eq 3

# Every prefix of a dump. The last one is the whole.
small_dump >"$work/whole"
failed=''
size=$(wc -c <"$work/whole")
for ((cut = 1; cut < size; cut++)); do
	is_thorough || [ $((cut % 3)) -ne 1 ] || continue
	head -c "$cut" "$work/whole" >"$bad"
	run top "$bad"
	if [ "$status" -ne 3 ] || ! one_line || [ -s "$work/out" ]; then
		failed="$failed $cut:$status"
	fi
done
check_equal "a small dump cut at each of $size places" "$failed" ''
for dump in $tiny $fixtures/v02/cache-m-opt/memprof.28975.after_major_collection.0.dump \
	$fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump \
	$v01/busy-hup/heap.dump.26916.0; do
	size=$(wc -c <"$dump")
	failed=''
	for cut in 1 2 7 8 9 13 17 100 1000 $((size / 3)) $((size / 2)) $((size - 2000)) \
		$((size - 300)) $((size - 100)) $((size - 16)) $((size - 9)) $((size - 8)) \
		$((size - 7)) $((size - 1)); do
		head -c "$cut" "$dump" >"$work/$(basename "$dump")"
		run top "$work/$(basename "$dump")"
		if [ "$status" -ne 3 ] || ! one_line || [ -s "$work/out" ]; then
			failed="$failed $cut:$status"
		fi
	done
	check_equal "$(basename "$dump") cut at 19 places" "$failed" ''
done

# Contradictions
huge=$((1 << 62))
{
	byte 4
	small_dump | tail -c +2
} | made 'words of 4 bytes' 3
{
	byte 8
	words $huge
	printf abc
} | made 'a program name of 2^62 bytes' 3
{
	byte 8
	word -1
	printf abc
} | made 'a program name of 2^64-1 bytes' 3
{
	head_of_dump
	byte 7
} | made 'an unknown record' 3
{
	head_of_dump
	chunk $((base + 4096)) $base
	tail_of_dump
} | made 'a chunk that ends before it starts' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	chunk $((base + 2048)) $((base + 8192))
	block $((base + 8)) 0 1 3
	tail_of_dump
} | made 'overlapping chunks' 3
{
	head_of_dump
	block $((base + 8)) 0 1 3
	chunk $base $((base + 4096))
	tail_of_dump
} | made 'a block before any chunk' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8192)) 0 1 3
	tail_of_dump
} | made 'a block outside its chunk' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 4088)) 252 1000
	tail_of_dump
} | made 'a block that ends outside its chunk' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 9)) 0 1 3
	tail_of_dump
} | made 'a block at an odd address' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 2 3 3
	block $((base + 16)) 0 1 3
	tail_of_dump
} | made 'overlapping blocks' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 1 3
	block $((base + 8)) 0 1 3
	tail_of_dump
} | made 'the same block twice' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 $(((1 << 33) - 1)) 3
} | made 'a field count past the end of the file' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 $huge 3
	tail_of_dump
} | made 'a block of 2^62 words' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 252 -1
	tail_of_dump
} | made 'a string of 2^64-1 words' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 1 3
	byte 255
	words 0 0 3 $((base + 8)) $((huge + 1)) 0 1
} | made 'a stack of 2^61 entries' 3
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 1 3
	byte 255
	words 0 0 3 $((base + 8)) 2 0 1
} | made 'a stack count that is no integer' 3
{
	small_dump
	byte 0
} | made 'something behind the end' 3
{
	small_dump
	small_dump
} | made 'two dumps in one file' 3

{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 1 3
	tail_of_dump $((base + 65544))
} | made 'a root out of every chunk' 3
# native MODULE-WORDS...: a native dump of 0.2 with these words for its modules.
native() {
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 1 3
	byte 255
	words 0 0 0 "$@"
}
bad=$work/memprof.7.0.dump
native 1 $((base + 512)) 1 $((base + 8)) 0 0 1 | made 'control: a native dump made by hand is read' 0
native 1 $((base + 512)) $huge $((base + 8)) 0 0 1 | made 'a module of 2^62 words' 3
native 2 $((base + 512)) 1 $((base + 8)) 0 0 1 | made 'a module that does not begin with 1' 3
native 0 1 $huge | made 'a name of 2^62 bytes' 3
native 0 0 $((base + 8)) | made 'roots without end' 3
bad=$work/heap.dump.7.0

# Pointers to nowhere do not make a dump unreadable: real ones have them. They are counted.
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 2 $((base + 2048)) $((base + 65536))
	tail_of_dump
} | made 'a field that leads to no block' 0
run summary --format json "$bad"
check_equal 'a field that leads to no block: counted' \
	"$(jq -c '.totals | [.dangling_pointers, .outside_pointers]' "$work/out")" '[1,1]'
{
	head_of_dump
	chunk $base $((base + 4096))
	block $((base + 8)) 0 1 3
	tail_of_dump $((base + 2048))
} | made 'a root that leads to no block' 0
run summary --format json "$bad"
check_equal 'a root that leads to no block: counted' \
	"$(jq -c '.totals | [.reachable_blocks, .root_targets, .roots > 0]' "$work/out")" '[0,0,true]'
{
	head_of_dump
	byte 255
	words 0 0 3 1 1 0 1
} | made 'a dump without blocks' 0

# A lie in a record must not cost memory: one string of 64 GiB in a chunk that has room for it.
{
	head_of_dump
	chunk $base $((base + (1 << 37)))
	block $((base + 8)) 252 $(((1 << 33) - 1))
	tail_of_dump
} >"$bad"
if is_sanitized; then
	skip 'a string of 64 GiB costs nothing' 'AddressSanitizer needs address space'
else
	check 'a string of 64 GiB costs nothing' \
		bash -c "ulimit -v 300000; '$hg' top --max-memory 32M '$bad'"
fi

# Location sources
marshal_header() { # MAGIC LENGTH OBJECTS SIZE32 SIZE64, big endian
	local number i
	for number; do
		for i in 24 16 8 0; do
			byte $((number >> i & 255))
		done
	done
}
named_profile() {
	cat >"$work/x.prof"
	refuses "$1" 3 top --prof "$work/x.prof" $tiny
}
: | named_profile 'profile: empty'
head -c 1000 $v01/tiny/t1.prof | named_profile 'profile: cut short'
head -c 100 LICENSE | named_profile 'profile: text'
{
	marshal_header 0x42 $((0x7fffffff)) 1 1 1
	byte 64
} | named_profile 'profile: a length past the end'
{
	marshal_header 0x42 1 $((0xffffffff)) 1 1
	byte 64
} | named_profile 'profile: 2^32 objects'
{
	marshal_header 0x8495a6be 9 1 1 1
	byte 19
	byte 255
	printf '\377\377\377\377\377\374\000'
} | named_profile 'profile: a block of 2^54 words'
{
	marshal_header 0x8495a6be 13 1 1 1
	byte 10
	printf '\377\377\377\377text....'
} | named_profile 'profile: a string of 4 GiB'
{
	marshal_header 0x8495a6be 3 1 1 1
	byte 160
	byte 4
	byte 200
} | named_profile 'profile: a reference to an object not yet read'
{
	marshal_header 0x8495a6be 1 1 1 1
	byte 66
} | named_profile 'profile: a value that is no table'
{
	cat $v01/tiny/t1.prof
	byte 0
} | named_profile 'profile: something behind the end'
# A list a million deep: no recursion.
{
	marshal_header 0x8495a6be 2000001 1000000 3000000 3000000
	yes "$(printf '\240\101')" | tr -d '\n' | head -c 2000000
	byte 64
} >"$work/x.prof"
status=0
(ulimit -s 256 && "$hg" top --prof "$work/x.prof" $tiny) >"$work/out" 2>"$work/err" || status=$?
check_equal 'profile: a list a million deep in a small stack: exit status' "$status" 3
check 'profile: a list a million deep in a small stack: one line' one_line
refuses 'profile: missing' 3 top --prof "$work/missing.prof" $tiny
refuses 'profile: directory' 3 top --prof "$work/folder" $tiny
refuses 'profile: FIFO' 3 top --prof "$work/fifo" $tiny

# One that nobody named must not keep the dump from being read.
mkdir "$work/aside"
cp $tiny "$work/aside"
head -c 1000 $v01/tiny/t1.prof >"$work/aside/t1.prof"
run top --by tag "$work/aside/heap.dump.29370.0"
check_equal 'a bad profile that was found, not named: exit status' "$status" 0
check 'a bad profile that was found, not named: said so' grep -q 'unusable' "$work/err"

# OCP dumps: the footer, the sections
ocp=$fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump
ocp_bad=$work/memprof.8911.0.after_major_collection.dump
size=$(wc -c <$ocp)
# patched OFFSET: the dump with stdin written over it there.
patched() {
	cp $ocp "$ocp_bad"
	dd of="$ocp_bad" bs=1 seek="$1" conv=notrunc status=none
}
word $huge | patched $((size - 8))
refuses 'OCP: 2^62 sections' 3 top "$ocp_bad"
word 0 | patched $((size - 8))
refuses 'OCP: no sections' 3 top "$ocp_bad"
for section in 0 1 2 3 4 5 6; do
	word $((size + 1)) | patched $((size - 8 - (7 - section) * 12 + 4))
	refuses "OCP: section $section outside of the file" 3 top "$ocp_bad"
done
printf XXXX | patched $((size - 8 - 7 * 12))
refuses 'OCP: unknown section' 3 top "$ocp_bad"
# CHKS is at 26722: block count, graph, number of chunks, start and size of each.
word $huge | patched $((26722 + 9))
refuses 'OCP: 2^62 chunks' 3 top "$ocp_bad"
word $huge | patched $((26722 + 25))
refuses 'OCP: a chunk of 2^62 bytes' 3 top "$ocp_bad"
word 1 | patched 26722
refuses 'OCP: a wrong number of blocks' 3 top "$ocp_bad"

# Any byte of small dumps changed: no crash, no hang; either read or refused.
changes=50
! is_thorough || changes=150
for dump in "$work/whole" $ocp; do
	size=$(wc -c <"$dump")
	failed=''
	for ((i = 0; i < changes; i++)); do
		at=$((i * 7919 % size))
		cp "$dump" "$work/memprof.1.0.dump"
		byte $((i * 37 % 256)) | dd of="$work/memprof.1.0.dump" bs=1 seek=$at conv=notrunc status=none
		run objects --format csv "$work/memprof.1.0.dump"
		case $status in
		0 | 3) ;;
		*) failed="$failed $at:$status" ;;
		esac
	done
	check_equal "$(basename "$dump"): $changes changed bytes" "$failed" ''
done
