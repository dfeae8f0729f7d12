#!/bin/bash
# Installed into an empty folder, the command runs, and a program compiles against the library,
# shared and static, and keeps its own malloc.
. tests/cli/lib.sh

root=$work/root
version=$(sed -n 's/^#define HG_VERSION "\(.*\)"/\1/p' include/heapgraph.h)
check 'install' scripts/install "$BUILD" "$root" /usr "$version"
(cd "$root/usr" && find . ! -type d | sort) >"$work/got"
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
check_same 'install: the files' "$work/got" "$work/wanted"
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
	check_equal "$kind: it prints three locations" \
		"$("$work/example" $cache5 | grep -c 'bytes retained by')" 3
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

rm "$root/usr/lib/libheapgraph.so" "$root/usr/lib/libheapgraph.so.0"
# shellcheck disable=SC2046 # words
uses static $(pkg-config --static --cflags --libs heapgraph)
check 'the header compiles as C++' bash -c "
	! command -v g++ >/dev/null || echo '#include <heapgraph.h>' |
		g++ -fsyntax-only -Wall -Wextra -Werror -x c++ -I include -"
grep -A 100 '^```c$' README.md | sed '1d; /^```$/,$d' >"$work/shown"
check_same 'README shows the example' "$work/shown" docs/example.c
