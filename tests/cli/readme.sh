#!/bin/bash
# What README.md shows is what the commands print.
# shellcheck disable=SC2016 # a program of sed
. tests/cli/lib.sh

mkdir "$work/dumps" "$work/bin"
cp $v01/cache-dump/* "$work/dumps" 2>"$work/said" || true
cp $fixtures/cores/tiny-* "$work/dumps"
ln -s "$hg" "$work/bin/heapgraph"
PATH=$work/bin:$PATH

# In console blocks, lines after '$ command' are lines of its output.
command=''
count=0
while IFS= read -r line; do
	case $line in
	'$ '*)
		command=${line#\$ }
		count=$((count + 1))
		check "$command" bash -c "cd '$work/dumps' && $command >'$work/out'"
		;;
	*) check "$command: $line" grep -qxF -e "$line" "$work/out" ;;
	esac
done < <(sed -n '/^```console$/,/^```$/{/^```/d;p}' README.md)
check 'README has commands' test "$count" -ge 6
check 'dot wrote its picture' test -s "$work/dumps/heap.svg"

# Files that it links to are there.
grep -oE '\]\([^)h][^)]*\)' README.md | tr -d '()]' >"$work/links"
while IFS= read -r link; do
	check "README links to $link" test -e "$link"
done <"$work/links"

# The packages are those of scripts/install-packages.
for set in build test lint; do
	wanted=$(sed -n "s/^$set='\(.*\)'/\1/p" scripts/install-packages)
	check "README names the packages of $set" grep -qF "| $wanted |" README.md
done
