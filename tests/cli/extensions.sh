#!/bin/bash
# The name of -o chooses the format, --format goes before it, and no file of text has the name of
# something else.
. tests/cli/lib.sh
address=$("$hg" objects --format csv $tiny | columns address | sed -n 1p)

# ask VERB: its operands.
ask() {
	case $("$hg" help "$1" | sed -n '1s/^heapgraph [a-z]* \(\[options\] \)\{0,1\}//p') in
	PATTERN*) echo "loc:. $tiny" ;;
	ADDRESS*) echo "$address $tiny" ;;
	SNAPSHOT | FILE | '[RE] SNAPSHOT') echo "$tiny" ;;
	BASE*) echo "$cache0 $cache2 $cache5" ;;
	*) echo "$cache0 $cache2" ;;
	esac
}

# writes NAME VERB FILE FORMAT OPTION...: the file has the bytes that --format FORMAT gives.
writes() {
	local name=$1 verb=$2 file=$work/$3 format=$4
	shift 4
	rm -f "$file"
	# shellcheck disable=SC2046 # words
	run "$verb" "$@" -o "$file" $(ask "$verb")
	# shellcheck disable=SC2046 # words
	"$hg" "$verb" --format "$format" $(ask "$verb") >"$work/wanted" 2>/dev/null || true
	# That of check says that something grows.
	[ "$verb" = check ] || check_equal "$name: exit status" "$status" 0
	check_same "$name" "$file" "$work/wanted"
}

mkdir "$work/dir.html"
for verb in $("$hg" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	"$hg" help "$verb" >"$work/help"
	grep -q -- '^  -o, ' "$work/help" || continue
	case $verb in capture) continue ;; esac
	if ! grep -q -- '^  --format' "$work/help"; then
		# shellcheck disable=SC2046 # words
		refuses "$verb -o x.csv" 2 "$verb" -o "$work/x.csv" $(ask "$verb")
		check "$verb -o x.csv: what there is" grep -q "not write .csv files, only \.[a-z]" "$work/err"
		continue
	fi
	writes "$verb -o x.csv" "$verb" x.csv csv
	writes "$verb -o x.JSON" "$verb" x.JSON json
	writes "$verb -o x.txt" "$verb" x.txt text
	writes "$verb -o x" "$verb" x text
	writes "$verb -o x.1" "$verb" x.1 text
	writes "$verb -o dir.html/.csv" "$verb" dir.html/.csv text
	writes "$verb --format json -o x.csv" "$verb" x.csv json --format json
	writes "$verb --format csv -o x.html" "$verb" x.html csv --format csv
	rm "$work/x.html"
	for extension in html xml csv.gz; do
		# shellcheck disable=SC2046 # words
		refuses "$verb -o x.$extension" 2 "$verb" -o "$work/x.$extension" $(ask "$verb")
		check "$verb -o x.$extension: what there is" \
			grep -q "$verb does not write .${extension##*.} files, only .txt, .csv, .json" "$work/err"
		check "$verb -o x.$extension: no file" test ! -e "$work/x.$extension"
	done
done
refuses 'dot -o x.html' 2 dot -o "$work/x.html" $tiny
check 'dot -o x.html: what there is' grep -q 'only .dot, .svg, .png, .pdf' "$work/err"
refuses 'hp -o x.svg' 2 hp -o "$work/x.svg" $tiny
check 'hp -o x.svg: what there is' grep -q 'only .hp' "$work/err"
run dot -o "$work/x.gv" $tiny
check 'dot -o x.gv' grep -q '^digraph' "$work/x.gv"
