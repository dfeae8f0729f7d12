#!/bin/bash
# Hostile files, one for each message of the loaders: the exact line on stderr, the exit status and
# nothing on stdout, as tests/golden-bad/expected.tsv says (make.py there makes it and the files).
. tests/cli/lib.sh

folder=tests/golden-bad/files

# is_quiet STATUS: the last run said nothing on stderr, and on stdout just if it read something.
is_quiet() {
	[ "$status" -eq 0 ] && [ ! -s "$work/err" ] && [ -s "$work/out" ]
}

# judge NAME STATUS LINE: of the last run.
judge() {
	printf '%s\n' "$3" >"$work/wanted"
	if [ "$status" -ne "$2" ]; then
		not_ok "$1" "exit $status, not $2: $(gist "$work/err")"
	elif [ -s "$work/out" ]; then
		not_ok "$1" "on stdout: $(gist "$work/out")"
	elif ! cmp -s "$work/wanted" "$work/err"; then
		not_ok "$1" "stderr is '$(gist "$work/err")', not '$3'"
	else
		ok "$1"
	fi
}

while IFS=$'\t' read -r file snapshot options wanted message; do
	case $file in \#*) continue ;; esac
	[ "$options" != - ] || options=''
	# shellcheck disable=SC2086 # words
	if [ "$snapshot" = - ]; then
		run summary $options "$folder/$file"
	else
		run summary $options --prof "$folder/$file" "$folder/$snapshot"
	fi
	if [ "$wanted" -eq 0 ]; then
		check "control: $file is read" is_quiet
	else
		judge "$file" "$wanted" "heapgraph: $folder/$file: $message"
	fi
done <tests/golden-bad/expected.tsv
