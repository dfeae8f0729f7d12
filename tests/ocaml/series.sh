# What leaks (and whoever wants captures of its programs) needs: compiling the programs in leaking/ and
# taking a series of captures of one.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are for and of the scripts

leaking='cache audit cleanup finalisers tenants handlers memo bigarrays promises fibers closing scores plugins members accounts'
healthy='lru ring interned'

# build_program CASE: in a folder of its own, with exe.prof; the OCaml library is for SAMPLE.
build_program() {
	local library=$BUILD/ocaml/library-$name/heapgraph sources=server.ml
	folder=$BUILD/ocaml/leaking-$name/$1
	build_exporter && build_ocaml library all || return 1
	rm -rf "$folder"
	mkdir -p "$folder"
	cp "$here"/leaking/*.ml "$folder"
	[ "$1" != promises ] || sources="$sources promise.ml"
	# shellcheck disable=SC2086 # one word for each source
	(cd "$folder" && "$ocamlopt" -g -bin-annot -I "$library" heapgraph.cmxa $sources "$1.ml" -o "$1" &&
		"$exporter" -o exe.prof .) >"$work/compile" 2>&1 || {
		not_ok "build $1" "$(gist "$work/compile")"
		return 1
	}
}

# jitter COUNT: within 30 % of it, by RANDOM.
jitter() {
	echo $(($1 * (700 + RANDOM % 601) / 1000))
}

# said_last WORD: the number behind it, of the last line.
said_last() {
	sed -n "s/^$1 //p" "$work/said" | tail -n 1
}

# await WORD LEAST: until the program has said so with such a number at least.
await() {
	local left=$((patience * 50)) last
	until last=$(said_last "$1") && [ "${last:-0}" -ge "$2" ]; do
		left=$((left - 1))
		if [ "$left" -eq 0 ] || ! kill -0 "$pid" 2>/dev/null; then
			not_ok "$1 $2" "$(gist "$work/complained")"
			return 1
		fi
		sleep 0.02
	done
}

# order COUNT: so many requests more.
order() {
	wanted=$((wanted + $1))
	echo "$1" >&"$orders"
}

# take_series CASE MODE BATCH FILES: four captures FILES.1 to FILES.4 of the program, with about BATCH
# requests between two.  BATCH=3000 is just so many, BATCH=3000~ 30 % more or less.
take_series() {
	local program=$1 mode=$2 batch=${3%\~} varies='' files=$4 at wanted=0 orders size
	[ "$batch" = "$3" ] || varies=yes
	rm -f "$work/orders"
	mkfifo "$work/orders"
	exec {orders}<>"$work/orders"
	: >"$work/said"
	"$folder/$program" "$mode" <"$work/orders" >"$work/said" 2>"$work/complained" &
	pid=$!
	disown
	# Before the first capture the healthy ones have become as large as they get.
	order 6000
	for at in 1 2 3 4; do
		size=$batch
		[ -z "$varies" ] || size=$(jitter "$batch")
		if [ "$mode" = busy ]; then
			await SERVED "$wanted" || break
			sleep "0.0$(printf '%02d' $((RANDOM % 100)))"
		else
			await READY "$wanted" || break
		fi
		capture "$files.$at" || break
		if [ "$mode" = busy ]; then
			wanted=$(($(said_last SERVED) + size))
		else
			[ "$at" = 4 ] || order "$size"
		fi
	done
	exec {orders}>&-
	stop KILL
	[ -e "$files.4" ]
}
