# heapgraph: build, test, install.  'make help' lists the targets; V=1 shows the commands.

VERSION := $(shell sed -n 's/^\#define HG_VERSION "\(.*\)"/\1/p' include/heapgraph.h)
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
V       ?= 0
# What serves the big arrays: jemalloc, or system (for sanitizers and valgrind).
ARENA   ?= jemalloc
# 1: invariants are checked at run time (base/assert.h).
ASSERTS ?= 0
# 0: without Graphviz, and no pictures.
GRAPHVIZ ?= 1
# 1: with all libraries in the executable; these are without Graphviz.
STATIC  ?= 0
# 1: a warning is an error.
WERROR  ?= 0

CC       ?= cc
CFLAGS   ?= -O2 -g
OBJCOPY  ?= objcopy
PKG      ?= pkg-config
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion
PACKAGES := libzstd libelf libdw jansson $(if $(filter jemalloc,$(ARENA)),jemalloc)
# Loaded when it is needed.
LOADED   := capstone
DRAWING  := $(if $(filter 1,$(GRAPHVIZ)),libgvc libcgraph)

cflags = -std=c11 -D_GNU_SOURCE -I. -Iinclude -fPIC -fvisibility=hidden -pthread $(WARNINGS) \
	$(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-mpopcnt) \
	$(if $(filter system,$(ARENA)),-DBASE_ARENA_SYSTEM) \
	$(if $(filter 1,$(ASSERTS)),-DBASE_ASSERTS) \
	$(if $(filter 1,$(STATIC)),-DSNAP_CAPSTONE_LINKED) \
	$(if $(filter 1,$(WERROR)),-Werror) \
	$(shell $(PKG) --cflags $(PACKAGES) $(LOADED) 2>/dev/null)
ifeq ($(STATIC),1)
lib_libs = -static $(shell $(PKG) --static --libs $(PACKAGES) $(LOADED)) -lm -pthread
else
lib_libs = $(shell $(PKG) --libs $(PACKAGES)) -lm -ldl -pthread
endif
cli_cflags = $(if $(DRAWING),$(shell $(PKG) --cflags $(DRAWING) 2>/dev/null))
cli_libs = $(if $(DRAWING),$(shell $(PKG) --libs $(DRAWING))) $(lib_libs)

# All folders of the library and of the command, however deep: a new one needs no line here.
LIB_SOURCES := $(sort $(shell find base snapshot trace graph retype query -name '*.c'))
CLI_SOURCES := $(filter-out %/drawing_$(if $(filter 1,$(GRAPHVIZ)),none,graphviz).c, \
	$(sort $(shell find report cli -name '*.c')))
KILLER_SOURCES := $(filter-out %/saboteur.c,$(wildcard tests/stress/*.c))
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60
UNIT_SOURCES := $(sort $(shell find tests/unit -name 'test_*.c'))
UNIT_TESTS  := $(basename $(notdir $(UNIT_SOURCES)))

lib_objects  = $(LIB_SOURCES:%.c=$(BUILD)/%.o)
cli_objects  = $(CLI_SOURCES:%.c=$(BUILD)/%.o)
programs     = $(BUILD)/heapgraph $(BUILD)/gendump $(BUILD)/oracle $(BUILD)/reach $(BUILD)/record $(BUILD)/target \
	$(BUILD)/sweep $(BUILD)/faults.so \
	$(BUILD)/watched $(BUILD)/kill_captures $(BUILD)/saboteur
unit_tests   = $(UNIT_TESTS:%=$(BUILD)/tests/%)
fuzz_replays = $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz_replay_%)

BENCHES := bench genseries gentrace machine retype types

static_lib = $(BUILD)/libheapgraph.a
# The library as its parts, for the command, tests and benches, which know more of it than users.
parts_lib  = $(BUILD)/parts.a
# The command but for its main(), for tests: each takes what it needs.
command_lib = $(BUILD)/command.a
shared_lib = $(BUILD)/libheapgraph.so.0

# As many jobs as there are processors, unless -j says otherwise; what one of them says stays together.
# What runs tests says so as it goes.
parallel := -j$(shell nproc 2>/dev/null || echo 1) --output-sync
ifeq ($(MAKELEVEL),0)
ifneq ($(filter all unit-tests test-programs $(BUILD)/%,$(or $(MAKECMDGOALS),all)),)
MAKEFLAGS += $(parallel)
endif
endif

# For a make that a rule calls: that of the user knows how many jobs.
parallel_build = $(if $(findstring jobserver,$(MAKEFLAGS)),,$(parallel))
run_tests = tests/run $(BUILD) $(UNIT_TESTS) $(FUZZ_TARGETS:%=fuzz_replay_%)

Q = $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n')

.PHONY: static all unit-tests test-programs help demo test check check-ocaml test-ocaml-all test-all test-debian test-arm64-user test-arm64 stress-ocaml stress-capture stress-faults bench bench-capture bench-hostile bench-trace lint asan fuzz run-fuzzers format install clean

all: $(programs) $(static_lib) $(shared_lib) $(BUILD)/libheapgraph.so

# One file that runs on any Linux of the processor: copied into a container, or beside one.
static:
	$(Q)scripts/install-packages build
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/static STATIC=1 GRAPHVIZ=0 $(parallel_build) \
		$(BUILD)/static/heapgraph

unit-tests: $(unit_tests)

# All that 'make check' runs.
test-programs: all $(unit_tests) $(fuzz_replays)

help:
	@echo 'make            build build/heapgraph and libheapgraph'
	@echo 'make demo       install what is missing, build, analyse a bundled dump, draw it'
	@echo 'make test       install what is missing, build, run all tests'
	@echo 'make test-all       also every OCaml version, all of lint, sanitizers: more than an hour'
	@echo 'make test-ocaml-all   real programs with OCaml 4.14, 5.1 and 5.3 to 5.5, built once and kept'
	@echo 'make test-ocaml-5.3.0 the same with one of scripts/ocaml-versions'
	@echo 'make test-debian      demo and test on bare Debians 12, 13 and testing, as root'
	@echo 'make test-arm64-user   the build for arm64, under qemu-user'
	@echo 'make test-arm64       captures in a whole machine of arm64 that qemu emulates'
	@echo 'make stress-ocaml     200 captures at arbitrary moments, with 4.13, 5.3, 5.4 and 5.5; 200 of two domains'
	@echo 'make stress-capture   1,500 kills of captures, and slow forks: are the programs as before?'
	@echo 'make stress-faults    every call of the system of six verbs fails once, and from then on'
	@echo 'make bench      measure speed and memory (some minutes)'
	@echo 'make bench-capture  the pause of a capture beside that of gcore (a minute, 3 GB)'
	@echo 'make bench-hostile  cores made to be slow to read, 100 MB each (half an hour)'
	@echo 'make bench-trace  reading of traces beside sha256sum (some minutes, 1 GB)'
	@echo 'make static     build/static/heapgraph, which needs no library where it runs; no pictures'
	@echo 'make lint       clang-format, clang-tidy, mandoc, both compilers without warnings'
	@echo 'make asan       the tests under AddressSanitizer and UBSan'
	@echo 'make fuzz       look for inputs that crash, FUZZ_SECONDS=60 for each target'
	@echo 'make install    PREFIX=/usr/local DESTDIR='

# Objects that were compiled when warnings were no errors are compiled again.
ifeq ($(WERROR),1)
$(shell mkdir -p $(BUILD) && { [ -e $(BUILD)/werror ] || touch $(BUILD)/werror; })
endif

$(BUILD)/%.o: %.c Makefile $(if $(filter 1,$(WERROR)),$(BUILD)/werror)
	$(say) CC $<
	@mkdir -p $(@D)
	$(if $(filter 1,$(WERROR)),,@rm -f $(BUILD)/werror)
	$(Q)$(CC) $(cflags) $(if $(filter report/% cli/%,$<),$(cli_cflags)) $(CFLAGS) -MMD -MP \
		-c -o $@ $<

$(parts_lib): $(lib_objects)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(command_lib): $(filter-out $(BUILD)/cli/main.o,$(cli_objects))
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

# One object, in which all symbols but hg_* are local: a program may call its functions as it likes.
$(static_lib): $(lib_objects)
	$(say) AR $@
	$(Q)$(LD) -r -o $(BUILD)/libheapgraph.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/libheapgraph.o
	$(Q)rm -f $@ && $(AR) qcs $@ $(BUILD)/libheapgraph.o

$(shared_lib): $(lib_objects)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libheapgraph.so.0 -o $@ $^ $(lib_libs)

$(BUILD)/libheapgraph.so: $(shared_lib)
	$(Q)ln -sf libheapgraph.so.0 $@

$(BUILD)/heapgraph: $(cli_objects) $(parts_lib)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(COMMAND_LDFLAGS) -o $@ $^ $(cli_libs)

$(BUILD)/gendump: $(BUILD)/bench/gendump.o
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BENCHES:%=$(BUILD)/bench/%): $(BUILD)/bench/%: $(BUILD)/bench/%.o $(parts_lib)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(lib_libs)

$(BUILD)/oracle: $(BUILD)/tests/oracle/oracle.o
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

# What Obj.reachable_words should say, for the tests with cores.
$(BUILD)/reach: $(BUILD)/tests/ocaml/reach.o
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

# What a program has logged as a trace of memtrace.
$(BUILD)/record: $(BUILD)/tests/ocaml/record.o $(parts_lib)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(lib_libs)

# A process to be captured, whose symbols can be found; as it is without sanitizers.
$(BUILD)/target: tests/targets/target.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(filter-out -fsanitize%,$(CFLAGS)) $(LDFLAGS) -rdynamic -o $@ $<

# What makes calls of the system fail one after the other: preloaded, so without sanitizers.
$(BUILD)/sweep: tests/faults/sweep.c tests/faults/calls.h Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(filter-out -fsanitize%,$(CFLAGS)) $(LDFLAGS) -o $@ $<

$(BUILD)/faults.so: tests/faults/shim.c tests/faults/calls.h Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) -fvisibility=default $(filter-out -fsanitize%,$(CFLAGS)) $(LDFLAGS) -shared \
		-o $@ $< -ldl

# Those of the stress tests of captures.
watched_sources = tests/targets/watched.c tests/targets/watched_self.c \
	$(wildcard tests/targets/registers_*.c)

$(BUILD)/watched: $(watched_sources) tests/targets/watched.h tests/targets/watched_self.h \
		tests/targets/registers.h Makefile
	$(say) CC tests/targets/watched.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(filter-out -fsanitize%,$(CFLAGS)) $(LDFLAGS) -rdynamic -o $@ \
		$(watched_sources)

$(BUILD)/kill_captures: $(KILLER_SOURCES:%.c=$(BUILD)/%.o)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/saboteur: $(BUILD)/tests/stress/saboteur.o
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

# Unit tests lie in folders like what they test; their programs all in one.
define unit_test
$(BUILD)/tests/$(basename $(notdir $(1))): $(BUILD)/$(1:.c=.o)
endef
$(foreach source,$(UNIT_SOURCES),$(eval $(call unit_test,$(source))))

$(unit_tests): $(command_lib) $(parts_lib)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(cli_libs)

# The kept inputs of a fuzzer as an ordinary test, and the fuzzer itself (only by 'make fuzz').
$(BUILD)/tests/fuzz_replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/standalone.o \
		$(parts_lib)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(lib_libs)

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(parts_lib)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(lib_libs)

demo:
	$(Q)scripts/install-packages build
	$(Q)$(MAKE) --no-print-directory $(parallel_build) $(BUILD)/heapgraph
	$(Q)scripts/demo $(BUILD)/heapgraph

test:
	$(Q)scripts/install-packages build test
	$(Q)$(MAKE) --no-print-directory $(parallel_build) test-programs
	$(Q)$(run_tests)
	$(Q)BUILD=$(BUILD) tests/ocaml/all ocamlopt

check: test-programs
	$(Q)$(run_tests)

# Real programs: with Debian's OCaml, and with versions that are built once and kept elsewhere.
check-ocaml: all
	$(Q)BUILD=$(BUILD) tests/ocaml/all ocamlopt

OCAML_VERSIONS_TESTED := 4.14.1 4.14.1-flambda 5.1.0 5.3.0 5.3.0-flambda 5.3.0-reserved21 5.4.1 5.5.2
OCAML_VERSIONS_STRESSED := 5.3.0 5.4.1 5.5.2

$(OCAML_VERSIONS_TESTED:%=test-ocaml-%): test-ocaml-%:
	$(Q)scripts/install-packages build test ocaml
	$(Q)$(MAKE) --no-print-directory $(parallel_build) all
	$(Q)prefix=$$(scripts/ocaml-versions $*) && BUILD=$(BUILD) tests/ocaml/all "$$prefix" && \
		OCAML_PREFIX=$$prefix TESTS='ocaml_library runtimes static_stripped' tests/run $(BUILD)

test-ocaml-all:
	$(Q)for version in $(OCAML_VERSIONS_TESTED); do \
		$(MAKE) --no-print-directory "test-ocaml-$$version" || exit 1; \
	done
	$(Q)CODE=bytecode BUILD=$(BUILD) tests/ocaml/types ocamlopt
	$(Q)for version in $(OCAML_VERSIONS_STRESSED); do \
		prefix=$$(scripts/ocaml-versions $$version) && \
			CODE=bytecode BUILD=$(BUILD) tests/ocaml/types "$$prefix" || exit 1; \
	done

# All that there is but stress, benches and new inputs for fuzzers: more than an hour.
test-all: export THOROUGH := 1
test-all: static test
	$(Q)$(MAKE) --no-print-directory test-ocaml-all
	$(Q)$(MAKE) --no-print-directory test-arm64-user
	$(Q)$(MAKE) --no-print-directory lint
	$(Q)$(MAKE) --no-print-directory asan ASAN_SKIPPED=

# For arm64, on any machine: built with that processor's packages, tested under qemu-user.
test-arm64-user:
	$(Q)scripts/install-packages build test arm64
	$(Q)$(MAKE) --no-print-directory $(parallel_build) $(BUILD)/heapgraph
	$(Q)scripts/arm64-make $(parallel_build) BUILD=$(BUILD)/arm64 \
		$(addprefix $(BUILD)/arm64/,heapgraph gendump reach) unit-tests
	$(Q)tests/arm64/user $(BUILD) $(BUILD)/arm64 $(UNIT_TESTS)

# Captures in three machines of arm64, which qemu emulates: 10 to 25 minutes each.
test-arm64: all
	$(Q)scripts/install-packages build test arm64
	$(Q)scripts/arm64-make $(parallel_build) BUILD=$(BUILD)/arm64 \
		$(addprefix $(BUILD)/arm64/,heapgraph kill_captures watched)
	$(Q)for kind in cortex-a72 max max-16k; do BUILD=$(BUILD) tests/arm64/run $$kind || exit 1; done

# On bare systems of their own: DEBIANS='bookworm trixie testing'.
test-debian:
	$(Q)scripts/install-packages debian
	$(Q)scripts/test-debian $(DEBIANS)

stress-ocaml:
	$(Q)scripts/install-packages build test ocaml
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(BUILD) tests/ocaml/stress ocamlopt
	$(Q)for version in $(OCAML_VERSIONS_STRESSED); do \
		prefix=$$(scripts/ocaml-versions $$version) && \
			BUILD=$(BUILD) tests/ocaml/stress "$$prefix" && \
			BUILD=$(BUILD) tests/ocaml/stress "$$prefix" 200 domains || exit 1; \
	done

stress-capture:
	$(Q)scripts/install-packages build test ocaml
	$(Q)$(MAKE) --no-print-directory all
	$(Q)prefix=$$(scripts/ocaml-versions 5.3.0) && \
		BUILD=$(BUILD) tests/stress/capture ocamlopt "$$prefix"

stress-faults: all
	$(Q)tests/faults/stress $(BUILD) $(FAULTS)

bench-capture: $(BUILD)/heapgraph $(BUILD)/bench/bench
	$(Q)scripts/install-packages build test bench
	$(Q)bench/capture $(BUILD)

bench-hostile: $(BUILD)/heapgraph
	$(Q)bench/hostile $(BUILD)

bench-trace: $(BUILD)/heapgraph $(BUILD)/bench/gentrace $(BUILD)/bench/genseries
	$(Q)bench/trace $(BUILD)

bench: $(BUILD)/gendump $(BUILD)/heapgraph $(BENCHES:%=$(BUILD)/bench/%)
	$(Q)bench/run $(BUILD)
	$(Q)DEEP_BLOCKS=10000000 TESTS=deep tests/run $(BUILD)

lint:
	$(Q)scripts/install-packages build test lint
	$(Q)scripts/lint

asan_cflags = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
asan_cflags += -fno-sanitize-recover=undefined

# Scripts that read nothing that others do not, or what is not built with sanitizers; those that do the
# same with many snapshots or traces; and of inputs that 'make fuzz' runs with them, too, those that take longest.
ASAN_SKIPPED ?= baseline container contract cores_verbs edges facts install readme manual ocaml_library terminal \
	pictures schema extensions capture_killed hp join retained retention roots \
	sizes spacetime_views trace_chart trace_diff trace_sizes \
	fuzz_replay_core fuzz_replay_memtrace fuzz_replay_snapshot

asan:
	$(Q)scripts/install-packages build test
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan $(asan_make) $(parallel_build) test-programs
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan $(asan_make) check

# With sanitizers gcc warns of what is well; and the command has 228,000 relocations for what they say
# of places, which were a third of the time of a short run.
asan_make = WERROR=0 ARENA=system ASSERTS=1 CFLAGS='$(asan_cflags)' COMMAND_LDFLAGS=-no-pie \
	SKIPPED='$(ASAN_SKIPPED)'

fuzz:
	$(Q)scripts/install-packages build lint
	$(Q)$(MAKE) --no-print-directory $(fuzz_make) $(parallel_build) \
		$(FUZZ_TARGETS:%=$(BUILD)/fuzz/fuzz_%)
	$(Q)$(MAKE) --no-print-directory $(fuzz_make) run-fuzzers

fuzz_make = BUILD=$(BUILD)/fuzz WERROR=0 ARENA=system ASSERTS=1 CC=clang \
	CFLAGS='-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
	-fsanitize=fuzzer-no-link,address,undefined'

run-fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/fuzz_%)
	$(Q)tests/fuzz/run $(BUILD) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	$(say) INSTALL $(DESTDIR)$(PREFIX)
	$(Q)MAKE='$(MAKE)' scripts/install $(BUILD) '$(DESTDIR)' '$(PREFIX)' '$(VERSION)'

clean:
	$(Q)rm -rf $(BUILD)

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
