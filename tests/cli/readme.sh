#!/bin/bash
# What README.md shows is what the commands print.
# shellcheck disable=SC2016 # a program of sed
. tests/cli/lib.sh

mkdir "$work/dumps" "$work/bin"
cp $v01/cache-dump/* "$work/dumps" 2>"$work/said" || true
cp $fixtures/cores/tiny-* "$work/dumps"
ln -s "$hg" "$work/bin/heapgraph"
PATH=$work/bin:$PATH

# check_console DOCUMENT FOLDER: in console blocks, lines after '$ command' are lines of its output.  How
# many commands there were: $count.
check_console() {
	local line command=''
	count=0
	while IFS= read -r line; do
		case $line in
		'$ '*)
			command=${line#\$ }
			count=$((count + 1))
			check "$command" bash -c "cd '$2' && $command >'$work/out'"
			;;
		*) check "$command: $line" grep -qxF -e "$line" "$work/out" ;;
		esac
	done < <(sed -n '/^```console$/,/^```$/{/^```/d;p}' "$1")
}

check_console README.md "$work/dumps"
check 'README has commands' test "$count" -ge 6
check 'dot wrote its picture' test -s "$work/dumps/heap.svg"

# Files that they link to are there.
for document in README.md docs/*.md; do
	grep -oE '\]\([^)h#][^)]*\)' "$document" | tr -d '()]' | cut -d '#' -f 1 >"$work/links" || true
	while IFS= read -r link; do
		check "$document links to $link" test -e "$(dirname "$document")/$link"
	done <"$work/links"
done

# The example of a leak, with the captures that it was written from.
example=docs/finding-a-leak.md
mkdir "$work/chat"
for file in chat.prof fixed.prof fixed.core; do
	zstd -dqf "$fixtures/leak/$file.zst" -o "$work/chat/$file"
done
for number in 0 1 2 3; do
	zstd -dqf "$fixtures/leak/chat-$number.core.zst" -o "$work/chat/heap.dump.22576.$number"
done
check_console "$example" "$work/chat"
check 'the example has commands' test "$count" -ge 11
for picture in heap growth; do
	check "a picture: $picture" xmllint --noout "$work/chat/$picture.svg"
done
check_equal 'a snapshot holds what the program held, a baseline does not' \
	"$(grep -lra visitor-12 "$work/chat/base.json" "$work/chat/heap.dump.22576.0")" \
	"$work/chat/heap.dump.22576.0"
sed -n '/^```ocaml$/,/^```$/{/^```/d;p}' "$example" >"$work/shown"
check 'the code shown is in the program' awk '
	NR == FNR { shown = shown $0 "\n"; next }
	{ program = program $0 "\n" }
	END { exit !(length(shown) > 100 && index(program, shown)) }' "$work/shown" "$fixtures/leak/chat.ml"
sed -n '/^```diff$/,/^```$/{/^```/d;p}' "$example" >"$work/shown"
diff -U 0 "$fixtures/leak/chat.ml" "$fixtures/leak/fixed/chat.ml" | grep '^[-+][^-+]' >"$work/changed"
check_same 'what is mended' "$work/shown" "$work/changed"
check_equal 'its lines' "$(grep -o 'chat.ml), [0-9]* lines' "$example" | tr -dc '0-9')" \
	"$(wc -l <"$fixtures/leak/chat.ml")"

# The packages are those of scripts/install-packages.
for set in build test lint; do
	wanted=$(sed -n "s/^$set='\(.*\)'/\1/p" scripts/install-packages)
	check "README names the packages of $set" grep -qF "| $wanted |" README.md
done
