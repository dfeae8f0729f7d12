#!/bin/bash
# Installed into an empty folder, the command runs, and a program compiles against the library,
# shared and static, and keeps its own malloc.
. tests/cli/lib.sh

version=$(sed -n 's/^#define HG_VERSION "\(.*\)"/\1/p' include/heapgraph.h)
# What make was told for the command, sanitizers for example, is not for the OCaml library.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL CFLAGS LDFLAGS OCAMLFIND_DESTDIR OCAMLPATH
root=$work/root

# installs NAME DESTDIR PREFIX: what it says is in $work/said.
installs() {
	local status=0
	scripts/install "$BUILD" "$2" "$3" "$version" >"$work/said" 2>"$work/complaints" || status=$?
	check_equal "$1: succeeds, complains of nothing" "$status $(gist "$work/complaints")" '0 '
}

# Without an OCaml.
mkdir "$work/tools"
find /usr/bin /bin -maxdepth 1 ! -name 'ocaml*' -exec ln -sf -t "$work/tools" {} +
cat >"$work/wanted" <<'END'
./bin/heapgraph
./include/heapgraph.h
./lib/libheapgraph.a
./lib/libheapgraph.so
./lib/libheapgraph.so.0
./lib/pkgconfig/heapgraph.pc
./share/bash-completion/completions/heapgraph
./share/man/man1/heapgraph.1
END
(cd include && find heapgraph -name '*.h' | sed 's,^,./include/,') >>"$work/wanted"
LC_ALL=C sort -o "$work/wanted" "$work/wanted"
PATH=$work/tools installs 'install' "$root" /usr
(cd "$root/usr" && find . ! -type d | sort) >"$work/got"
check_same 'install: the files' "$work/got" "$work/wanted"
check 'install: says what is missing' grep -q 'make -C ocaml install PREFIX=/usr' "$work/said"
check_equal 'install: says nothing else' "$(wc -l <"$work/said")" 1
check 'install: the command runs' "$root/usr/bin/heapgraph" info $tiny

if is_sanitized; then
	skip 'programs that use the library' 'built for AddressSanitizer'
	exit 0
fi

export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
check_equal 'pkg-config: version' "$(pkg-config --modversion heapgraph)" "$version"

# Which library serves the program's malloc?
cat >"$work/malloc.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <heapgraph.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	struct hg_session *session;
	Dl_info about;
	void *volatile block = malloc(100);
	if (hg_session_open(NULL, &session) != HG_OK || !dladdr((void *)malloc, &about))
		return 1;
	hg_session_close(session);
	free(block);
	puts(about.dli_fname);
	return 0;
}
END

cc=${CC:-cc}
# uses KIND FLAGS: compiles and runs the example and the program above.
uses() {
	local kind=$1
	shift
	# shellcheck disable=SC2046 # words
	check "$kind: the example compiles without warning" "$cc" -std=c11 -Wall -Wextra -Werror \
		-o "$work/example" docs/example.c "$@"
	check "$kind: it runs" "$work/example" $cache5
	check_equal "$kind: it prints three types" \
		"$("$work/example" $cache5 | grep -c 'bytes retained by .*Cache\.session')" 3
	check_equal "$kind: where nothing is known it says so" \
		"$("$work/example" $fixtures/cores/tiny-4.13.1.core.zst | sed 's/^ *[0-9]* //')" \
		'bytes retained by blocks of which nothing is known'
	status=0
	"$work/example" "$work/none" >"$work/out" 2>"$work/err" || status=$?
	check_equal "$kind: it says what it cannot read, and fails" "$status $(cat "$work/err" "$work/out")" \
		"1 $work/none: cannot be opened: No such file or directory"
	check "$kind: another program compiles" "$cc" -o "$work/malloc" "$work/malloc.c" "$@"
	check "$kind: malloc is that of the C library" \
		bash -c "'$work/malloc' | grep -q '/libc[.-]'"
}
export LD_LIBRARY_PATH=$root/usr/lib
# shellcheck disable=SC2046 # words
uses shared $(pkg-config --cflags --libs heapgraph)
check 'shared: it does use the shared library' \
	bash -c "ldd '$work/example' | grep -q libheapgraph.so.0"
nm -D --defined-only "$root/usr/lib/libheapgraph.so.0" | awk '$2 != "U" && $3 !~ /^hg_/ { print $3 }' \
	>"$work/foreign"
check 'shared: exports nothing but hg_*' test ! -s "$work/foreign"


# Without DESTDIR the dynamic linker is told; where it does not look, that is said.
mkdir "$work/linker"
cat >"$work/linker/ldconfig" <<'END'
#!/bin/sh
echo "ldconfig $*" >>"$(dirname "$0")/calls"
[ ! -f "$(dirname "$0")/cache" ] || cat "$(dirname "$0")/cache"
END
chmod +x "$work/linker/ldconfig"
unset LD_LIBRARY_PATH PKG_CONFIG_SYSROOT_DIR
PATH=$work/linker:$work/tools installs 'install without DESTDIR' '' "$work/usr"
check 'install without DESTDIR: says that the linker does not look there' \
	grep -qF "'-Wl,-rpath,$work/usr/lib'" "$work/said"
if [ "$(id -u)" -eq 0 ]; then
	check_equal 'install without DESTDIR: runs ldconfig' "$(head -n 1 "$work/linker/calls")" 'ldconfig '
else
	skip 'install without DESTDIR: runs ldconfig' 'not root'
fi
export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
# shellcheck disable=SC2046 # words
check 'install without DESTDIR: what it says does' "$cc" -o "$work/example" docs/example.c \
	$(pkg-config --cflags --libs heapgraph) "-Wl,-rpath,$work/usr/lib"
check 'install without DESTDIR: and runs' "$work/example" $cache5
printf '\tlibheapgraph.so.0 (libc6,x86-64) => %s/lib/libheapgraph.so.0\n' "$work/usr" >"$work/linker/cache"
PATH=$work/linker:$work/tools installs 'install where the linker looks' '' "$work/usr"
check 'install where the linker looks: nothing is said of it' bash -c "! grep rpath '$work/said'"
rm "$work/linker/calls"
PATH=$work/linker:$work/tools installs 'install with DESTDIR' "$root" /usr
check 'install with DESTDIR: the linker is left alone' test ! -e "$work/linker/calls"
export LD_LIBRARY_PATH=$root/usr/lib PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root

rm "$root/usr/lib/libheapgraph.so" "$root/usr/lib/libheapgraph.so.0"
# shellcheck disable=SC2046 # words
uses static $(pkg-config --static --cflags --libs heapgraph)
check 'the header compiles as C++' bash -c "
	! command -v g++ >/dev/null || echo '#include <heapgraph.h>' |
		g++ -fsyntax-only -Wall -Wextra -Werror -x c++ -I include -"
grep -A 100 '^```c$' README.md | sed '1d; /^```$/,$d' >"$work/shown"
check_same 'README shows the example' "$work/shown" docs/example.c

# With an OCaml: all of it, for one prefix.
if ! command -v ocamlopt >/dev/null || ! command -v ocamlfind >/dev/null; then
	skip 'the OCaml library' 'no OCaml is installed'
	exit 0
fi
# The compiler's own libraries may be missing.
ls "$(ocamlc -where)"/compiler-libs/ocamlcommon.cma >/dev/null 2>&1 && prof=./bin/heapgraph-prof || prof=
sort - "$work/wanted" >"$work/wanted-too" <<END
${prof:-./bin/heapgraph}
./lib/ocaml/heapgraph/META
./lib/ocaml/heapgraph/heapgraph.a
./lib/ocaml/heapgraph/heapgraph.cma
./lib/ocaml/heapgraph/heapgraph.cmi
./lib/ocaml/heapgraph/heapgraph.cmt
./lib/ocaml/heapgraph/heapgraph.cmti
./lib/ocaml/heapgraph/heapgraph.cmx
./lib/ocaml/heapgraph/heapgraph.cmxa
./lib/ocaml/heapgraph/heapgraph.cmxs
./lib/ocaml/heapgraph/heapgraph.mli
./lib/ocaml/heapgraph/libheapgraph_stubs.a
./lib/ocaml/stublibs/dllheapgraph_stubs.so
END
sort -u -o "$work/wanted-too" "$work/wanted-too"
root=$work/both
for time in first second; do
	installs "with OCaml, the $time time" "$root" /usr
	(cd "$root/usr" && find . ! -type d | sort) >"$work/got"
	check_same "with OCaml, the $time time: the files" "$work/got" "$work/wanted-too"
done
[ -z "$prof" ] || check 'with OCaml: heapgraph-prof runs' "$root/usr/bin/heapgraph-prof" --version
echo 'let () = print_endline (Heapgraph.dump_heap ())' >"$work/dumps.ml"
check 'with OCaml: a program is linked' env OCAMLPATH="$root/usr/lib/ocaml" ocamlfind ocamlopt \
	-bin-annot -package heapgraph -linkpkg "$work/dumps.ml" -o "$work/dumps"
[ -z "$prof" ] || check 'with OCaml: the types of the library are there' bash -c "cd '$work' &&
	'$root/usr/bin/heapgraph-prof' --exe dumps -o dumps.prof . 2>&1 | grep Heapgraph; grep -q '^u Heapgraph .* cmt ' dumps.prof"
check 'with OCaml: the command reads its dump' bash -c \
	"cd '$work' && '$root/usr/bin/heapgraph' info \"\$(./dumps)\""
# Elsewhere, and below a prefix that ocamlfind has its packages in.
installs 'elsewhere' "$root" "$work/usr"
check 'elsewhere: says where ocamlfind is to look' grep -qx \
	"install: for ocamlfind, the OCaml library is in OCAMLPATH=$work/usr/lib/ocaml" "$work/said"
check 'elsewhere: it is there' test -f "$root$work/usr/lib/ocaml/heapgraph/META"
mkdir -p "$work/switch/lib"
OCAMLFIND_DESTDIR=$work/switch/lib installs 'for ocamlfind' "$root" "$work/switch"
check 'for ocamlfind: into its folder' test -f "$root$work/switch/lib/heapgraph/META"
check 'for ocamlfind: nothing is said of it' bash -c "! grep -q OCAMLPATH '$work/said'"
