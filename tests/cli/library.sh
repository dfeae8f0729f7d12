#!/bin/bash
# The library as others see it: names, the header in the languages it is read in, and that the tests
# of arguments call every function that it declares.
. tests/cli/lib.sh

header=$work/heapgraph.h
cat include/heapgraph.h include/heapgraph/*.h >"$header"
grep -oE '\bhg_[a-z0-9_]+\(' "$header" | tr -d '(' | sort -u >"$work/named"
# Functions are declared with HG_API; what comments name must be among them.
sed -n '/^HG_API/,/;/p' "$header" | grep -oE '\bhg_[a-z0-9_]+\(' | tr -d '(' | grep -v "_fn$" | sort -u >"$work/declared"
check 'the header: declares functions' test "$(wc -l <"$work/declared")" -gt 60
grep -vE '^hg_([a-z]+_fn|X_release)$' "$work/named" | comm -23 - "$work/declared" >"$work/unknown"
check_equal 'the header: its comments name functions that there are' "$(gist "$work/unknown")" ''

# lists KIND FILE: the symbols in $work/seen are those declared.
lists() {
	check_same "$1: defines the functions of the header and nothing else" "$work/seen" "$work/declared"
}
nm -D --defined-only "$BUILD/libheapgraph.so.0" | awk 'NF == 3 { print $3 }' |
	grep -vE '^(__asan|__ubsan|__sanitizer|_fini$|_init$|__odr_asan)' | sort -u >"$work/seen"
lists 'shared library'
nm -g --defined-only "$BUILD/libheapgraph.a" | awk 'NF == 3 { print $3 }' |
	grep -vE '^(__asan|__ubsan|__sanitizer|__odr_asan)' | sort -u >"$work/seen"
lists 'static library'

# A struct of that name is another thing.
grep -oE '^(struct|enum) hg_[a-z0-9_]+' "$header" | sed 's/.* //' | sort -u |
	comm -12 - "$work/declared" >"$work/both"
check_equal 'the header: no name is of a type and of a function' "$(gist "$work/both")" ''

while IFS= read -r name; do
	grep -qE "\\b$name\\(" tests/unit/query/test_arguments.c || echo "$name"
done <"$work/declared" >"$work/uncalled"
check_equal 'test_arguments calls every function' "$(gist "$work/uncalled")" ''

# compiles COMPILER LANGUAGE FLAGS...: without a warning.
compiles() {
	local compiler=$1 language=$2
	shift 2
	if ! command -v "$compiler" >/dev/null; then
		skip "the header: $compiler $*" 'no such compiler'
		return
	fi
	printf '#include <heapgraph.h>\n#include <heapgraph.h>\nint main(void) { return HG_OK; }\n' >"$work/it"
	check "the header: $compiler $*" "$compiler" -x "$language" -fsyntax-only -I include -Wall -Wextra \
		-pedantic -Werror "$@" "$work/it"
}
for standard in c99 c11; do
	compiles gcc c -std=$standard -Wstrict-prototypes
	compiles clang c -std=$standard -Wstrict-prototypes
done
compiles g++ c++ -std=c++17
compiles clang++ c++ -std=c++17
