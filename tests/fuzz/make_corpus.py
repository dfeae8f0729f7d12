#!/usr/bin/env python3
"""
Makes the seeds of the fuzzers: small files by hand, and small recorded ones from tests/fixtures.

    tests/fuzz/make_corpus.py [FOLDER]

What a target's first bytes mean is said in fuzz_TARGET.c.  Files in the corpus that this does not
make were found by fuzzing, and show code that no seed reaches, or a mistake that has been mended.
"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden-bad"))
sys.dont_write_bytecode = True

import make as bad  # noqa: E402
from make import BASE, HEAD, IDS_01, STANDARD, block, chunk, words  # noqa: E402

FIXTURES = os.path.join(HERE, "..", "fixtures")
RECOGNISE, OCP, MEMPROF01, MEMPROF02, PARTIAL, THREADS_3 = 0, 1, 2, 3, 4, 0x20

END = b"\xff" + words(0x1000, 0x2000)


def fixture(*path):
    with open(os.path.join(FIXTURES, *path), "rb") as file:
        return file.read()


def bytecode(blocks, *roots):
    return HEAD + blocks + END + words(3, roots[0] if roots else 1, 1, 0, *roots) + words(1)


def cells(count, step=3):
    """A list: each cell holds the next; without free space between them if step is 3."""
    out = b""
    for i in range(count):
        rest = BASE + 8 + (i + 1) * 8 * step if i + 1 < count else 1
        out += block(BASE + 8 + i * 8 * step, 0, 2, 2 * i + 1, rest, site=10 + i % 3)
    return out


def closures():
    """Two functions in one closure, reached by the second; one code pointer; an atom."""
    fields = [0x1000, 3, 3 << 10 | 249, 0x2000, 3]
    out = chunk() + block(BASE + 8, 247, 5, *fields, site=0x1000)
    out += block(BASE + 56, 0, 3, BASE + 8 + 24, 0x2000, BASE + 0x2000)
    return out + block(BASE + 88, 246, 1, BASE + 8)


def diamond():
    a, b, c, d = (BASE + 8 + i * 32 for i in range(4))
    out = chunk() + block(a, 0, 2, b, c, site=0x1000) + block(b, 1, 3, d, 1, a, site=0x1001)
    return out + block(c, 2, 2, d, c) + block(d, 253, 1)


def chunks():
    """Three of them, not in order, with pointers among them and to nowhere."""
    far = BASE + (5 << 27)
    out = chunk(far, far + 64) + block(far + 8, 0, 2, BASE + 8, far + 24)
    out += chunk(BASE, BASE + 32) + block(BASE + 8, 0, 3, far + 8, BASE - 0x8000, 6)
    return out + chunk(0x10000, 0x10040) + b"\n\n" + block(0x10008, 0, 1, 0x10010)


def snapshots():
    ocp = bad.Ocp
    native = bad.Ocp().head
    native = native[:14] + b"\x01\x00"
    modules = words(2, BASE + 8, 5) + words(0x100, BASE + 8) + bad.FRAMES + bad.uint(0) * 2
    plain = ocp(CHKS=words(2) + b"\x00" + words(1, BASE, 64), STRS=words(8),
                BLKS=bad.ocp_block(2, 0) + bad.OCP_TEXT + bad.OCP_FREE)
    yield "good-01", MEMPROF01, 0, bad.GOOD01
    yield "good-02", MEMPROF02, 0, bad.GOOD02
    yield "good-ocp", RECOGNISE, 0, ocp().dump()
    yield "good-zstd", RECOGNISE, 0, bad.packed(bad.GOOD01)
    yield "no-graph-ocp", OCP, 0, plain.dump()
    yield "native-ocp", OCP, 0, ocp(head=native, ROOT=modules + words(1, 0, 1, 0, 0, 0)).dump()
    yield "cut", MEMPROF01 | PARTIAL, 0, bad.GOOD01[:-30]
    yield "no-blocks", MEMPROF01, 0, bytecode(chunk())
    yield "nothing", MEMPROF01, 0, bytecode(b"")
    yield "list", MEMPROF01 | THREADS_3, 0, bytecode(chunk() + cells(40), BASE + 8)
    wide = chunk(BASE, BASE + (1 << 16)) + cells(300, 20)
    yield "long-list", MEMPROF01 | THREADS_3, 0, bytecode(wide, BASE + 8)
    low = chunk(0, 64) + block(8, 0, 2, 8, 3)
    yield "below-32-KiB", MEMPROF01, 0, bytecode(low, 8)
    low += chunk() + block(BASE + 8, 0, 3, 8, BASE + 0x80008, 0x80008)
    yield "below-32-KiB-and-above", MEMPROF01, 0, bytecode(low, BASE + 8)
    high, last = 187 << 40, (1 << 48) - 64
    above = chunk(high, high + 64) + block(high + 8, 0, 2, 3, high + 32) + block(high + 32, 252, 1)
    yield "above-2-47", MEMPROF01, 0, bytecode(above, high + 8)
    above += chunk() + block(BASE + 8, 0, 2, high + 8, last + 8)
    above += chunk(last, last + 64) + block(last + 8, 0, 1, BASE + 8)
    yield "above-2-47-and-below", MEMPROF01, 0, bytecode(above, BASE + 8)
    yield "unreachable", MEMPROF01, 0, bytecode(chunk() + cells(10))
    yield "closures", MEMPROF01, 0, bytecode(closures(), BASE + 56, BASE + 88, BASE + 32)
    yield "diamond", MEMPROF01, 0, bytecode(diamond(), BASE + 8, BASE + 8 + 64)
    yield "chunks", MEMPROF01, 0, bytecode(chunks(), BASE + 8, BASE + 16)
    yield "little-memory", MEMPROF01, 0x80, bytecode(diamond(), BASE + 8)
    yield "tiny", MEMPROF01, 0, fixture("v01", "tiny", "heap.dump.29370.0")
    yield "cache-m-opt", MEMPROF02, 0, fixture(
        "v02", "cache-m-opt", "memprof.28975.after_major_collection.0.dump")
    yield "byte-noloc", OCP, 0, fixture(
        "ocp", "byte-noloc", "memprof.8911.0.after_major_collection.dump")


def items():
    """Each code of a marshalled value; with ids, 3 bytes of id for each object."""
    for ids in (False, True):
        mark = b"\1\2\3" if ids else b""
        fields = [b"\x40", b"\x00\xff", b"\x01\x80\x00", b"\x02\x80\x00\x00\x00",
                  b"\x03" + bytes(8), b"\x24" + mark + b"abcd", b"\x09\x02" + mark + b"ab",
                  b"\x0a\x00\x00\x00\x01" + mark + b"x", b"\x0c" + mark + bytes(8),
                  b"\x0d\x01" + mark + bytes(8), b"\x12_i\0\x00\x00\x00\x07" + mark,
                  b"\x12_n\0\x02" + bytes(8) + mark, b"\x04\x01", b"\x05\x00\x02",
                  b"\x10" + bytes(20), b"\x11\x00\x00\x00\x02\x04\x03", b"\x80"]
        yield bad.value(bad.record(*fields), 8, magic=IDS_01 if ids else STANDARD)


def marshals():
    t1 = fixture("v01", "tiny", "t1.prof")
    for i, data in enumerate(items()):
        yield "items-%d" % i, data
    yield "two", bad.value(b"@", 0) + bad.value(b"\x20", 1)
    yield "cycle", bad.value(b"\xa0\x04\x01\x41", 1)
    yield "deep", bad.value(b"\xa0\x41" * 200 + b"@", 200)
    yield "table", bad.value(bad.prof(1, bad.entry(10)), 8)
    yield "t1", t1
    yield "locations", fixture("v02", "cache-m-opt", "memprof.28975.locations")


def profiles():
    t1 = fixture("v01", "tiny", "t1.prof")
    two = bad.entry(10, rest=bad.entry(10 | 1 << 21, bad.location(b"b.ml", 7)))
    array = bad.value(bad.record(bad.location(), bad.location(b"_none_", -1)), 11)
    described = bad.record(bad.record(bad.location(), b"@"), b"@")
    table = bad.record(bad.record(b"@", b"@", b"@", b"@", bad.record(described)), tag=3)
    chunk17 = bad.info_chunk(bad.value(table, 10))
    yield "one-01", b"\x00" + bad.value(bad.prof(1, bad.entry(10)), 8)
    yield "twins-01", b"\x00" + bad.value(bad.prof(2, two), 14)
    yield "buckets-01", b"\x00" + bad.value(bad.prof(2, bad.entry(3), bad.entry(1024)), 14)
    yield "t1-01", b"\x00" + t1
    yield "byte-02", b"\x01" + array
    yield "native-02", b"\x82" + array + array
    yield "native-real-02", b"\x82" + fixture("v02", "cache-m-opt", "memprof.28975.locations")
    yield "ocp", b"\x02" + b"OCP-2017P001" + bad.info_chunk(b"abc", b"CMDS") + chunk17
    yield "real-ocp", b"\x02" + fixture("ocp", "byte-noloc", "memprof.8911.process_info")


def cores():
    """Changes to the cores of make_core.py: places and values as fuzz_core.c has them."""
    def change(target, how, where, value):
        return struct.pack("<IQ", target | how << 2 | where << 5, value)

    for five, name in ((0, "4"), (1, "5")):
        yield name + "-as-it-is", bytes([five | THREADS_3])
        yield name + "-cut", bytes([five | PARTIAL]) + change(3, 0, 0x5800, 0)
        yield name + "-cut-in-the-notes", bytes([five | PARTIAL]) + change(3, 0, 600, 0)
        for at in range(0x2000 // 8, 0x5000 // 8, 37):
            yield "%s-words-%d" % (name, at), bytes([five]) + b"".join(
                change(0, how, at + how, at * 0x10001) for how in range(8))
        yield name + "-program", bytes([five]) + b"".join(
            change(1, how, 0x5000 // 8 + 16 * how, how) for how in range(8))
    # The Bigarray of each core: its data in mapped memory; of a file, and of somebody else; parts of
    # data that a proxy has; data that are the heap, and the end of the address space; impossible kinds
    # and dimensions.
    for five, name, version in ((0, "4", "4.13"), (1, "5", "5.3")):
        with open(os.path.join(HERE, "cores", version + ".core"), "rb") as core:
            at = core.read().index(struct.pack("<3Q", 0x30000000, 1, 0x200 | 3)) // 8
        mapped, heap = 0x403000, (0x10000000, 0x20000000)[five]
        for case, words in (
                ("mapped", {0: mapped, 4: 256}), ("of-a-file", {0: mapped, 2: 0x403, 4: 256}),
                ("of-others", {0: mapped, 2: 3, 4: 256}),
                ("part", {0: mapped + 64, 3: mapped + 128, 4: 16}),
                ("part-of-a-file", {0: mapped + 64, 2: 0x403, 3: mapped, 4: 16}),
                ("of-the-heap", {0: heap, 4: 64}), ("at-the-end", {0: 2 ** 48 - 64, 4: 4096}),
                ("at-no-place", {0: 2 ** 64 - 8, 4: 4096}), ("huge", {0: mapped, 2: 0x20b, 4: 2 ** 61}),
                ("without-end", {1: 2 ** 60}), ("of-no-kind", {2: 0x2ff})):
            yield "%s-bigarray-%s" % (name, case), bytes([five]) + b"".join(
                change(0, 0, at + word, value) for word, value in words.items())
    # The minor heap's segment at 0xf800, and a field of the module that leads to a block in it.
    yield "5-block-below-heaps", b"\1" + b"".join(
        change(0, 0, at // 8, value) for at, value in (
            (64 + 4 * 56 + 16, 0xf800), (0x3a28 + 16, 0x10000), (0x187f8, 1 << 10 | 3 << 8),
            (0x18800, 1)))


def typed_tree(*path):
    """A .cmt file without the interface in front, which is skipped."""
    data = fixture(*path)
    return data[data.index(b"Caml2012T001"):]


def trees():
    tiny = typed_tree("v01", "tiny", "t1.cmt")
    recty = typed_tree("v01", "recty", "recty.cmt")
    variants = typed_tree("v01", "stdmagic", "variants.cmt")
    objs = typed_tree("v01", "objs-dump", "objs.cmt")
    yield "tiny", b"\0" + tiny
    yield "tiny-with-interface", b"\0" + fixture("v01", "tiny", "t1.cmt")
    yield "recty", b"\1" + recty
    yield "variants", b"\2" + variants
    yield "objs", b"\3" + objs
    yield "tiny-cut", b"\0" + tiny[:5000]
    yield "of-another-unit", b"\1" + tiny
    yield "of-another-version", b"\0Caml2012T030" + tiny[12:]
    # The annotations behind the name: of another kind, as of packs, interfaces and parts.
    at = tiny.index(b"T1\x91") + 2
    for kind in (0x90, 0x92, 0x93, 0x94):
        yield "tiny-annotations-%x" % kind, b"\0" + tiny[:at] + bytes([kind]) + tiny[at + 1:]
    # Bytes changed all over the file.
    for step in range(24):
        at = 60 + step * (len(tiny) - 61) // 24
        yield "tiny-byte-%d" % at, b"\0" + tiny[:at] + b"\x41" + tiny[at + 1:]


def write(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as out:
        out.write(data)


def hgprofs():
    """Byte 1: a whole profile; byte 0: what is between its first and its last line."""
    small = fixture("types", "small.prof")
    lines = small.split(b"\n")
    yield "small", b"\1" + small
    yield "small-inside", b"\0" + b"\n".join(lines[1:-2])
    units = b"u A - a.ml . cmt\nu B__C - c.ml . cmi\nf 0 a.ml A\nf 1 a.ml B__C\n"
    strings = b"D 0 string 0/0/0 B string\nt 0 c 0\n"
    yield "cyclic", b"\0t 0 T 1\nt 1 T 0\n"
    yield "aliases", b"\0" + strings + (
        b"D 1 A.a 0/1/0 A 1\nt 1 c 2\nD 2 A.b 0/2/0 A 2\nt 2 c 1\n"
        b"D 3 A.grown 1/3/0 A 3\nt 3 c 3 4\nt 4 T 5\nt 5 v 0\nt 6 c 3 0\n")
    yield "unboxed", b"\0" + strings + (
        b"D 1 A.w 0/1/0 U W 1\nt 1 c 2\nD 2 A.v 0/2/0 U V 2\nt 2 c 1\n"
        b"D 3 A.u 1/3/0 U U 3 = 4\nt 3 T 4 4\nt 4 v 0\nt 5 c 3 0\n")
    yield "functor", b"\0" + strings + (
        b"D 1 F.t 1/9/0 R x:1\nD 2 F(A).t 1/9/1 R x:m1\nt 1 v 0\nt 2 c 1 0\nt 3 c 2 0\n"
        b"t 4 O m:2\nt 5 O m:3 n:0\nt 6 P A:2 B\nt 7 P B:3\nt 8 F ?l 0 2\nt 9 M 0\n"
        b"m 0 F f:8\n")
    yield "gadt", b"\0" + strings + (
        b"D 1 A.e 1/1/0 V 2\nk I b = 0 ; %:0\nk P b = 1 ; %:4 %:5\n"
        b"t 1 T 2 3\nt 2 v 0\nt 3 v 1\nt 4 c 1 2\nt 5 c 1 3\nt 6 c 1 7\nt 7 T 0 0\n")
    yield "places", b"\0" + units + strings + (
        b"F 0 A f_1 0 1 0 9 1 9 1 0 k:0\nF 1 A fun 1 1 0 -1 1 -1 1 -\n"
        b"L 1 7 300 2000 9 1 @-1 tuple:0\nL 0 7 300 2000 9 1 @1 array:0 con.%3a%3a:0\n"
        b"v A x'_2 0\nx A.E %:0\nC c get set ; x:m0\ng A 1 x:0 y:0\n")
    yield "general", b"\0" + units + strings + (
        b"t 1 v 0\nt 2 v 1\nt 3 F % 1 2\nt 4 T 1 2\nt 5 e\nt 6 F % 0 5\nt 7 F % 4 1\n"
        b"F 0 A f_1 0 1 0 9 1 9 1 5 k:5\nG 0 3 k:4\nF 1 A fun 1 1 0 -1 1 -1 1 -\nG 1 7\n")


def baselines():
    """A series of three snapshots with four paths, a hostile name among them, and one of types."""
    measures = [(1, 16, 40), (2, 24, 24), (3, 32, 56), (1, 24, 24)]

    def snapshot(i):
        return {"position": i, "file": "f%d" % i, "pid": 1, "index": i, "time_ns": None, "blocks": 9, "bytes": 99,
                "reachable_blocks": 7, "reachable_bytes": 96 + i * 32, "offheap_bytes": i, "format": "elfcore",
                "title": "", "program": "p", "trigger": "", "ocaml_version": "", "native": True,
                "reserved_bits": 0, "word_size": 8, "file_bytes": 5, "roots": "lasting",
                "partial": "a block" if i == 9 else "", "partial_offset": None}

    def name(row, parent, text):
        return {"row": row, "parent": parent, "kind": "", "name": text, "is_root": int(row == 1),
                "passes": int(row == 3), "memprof": 0, "is_inside": 0, "made_at": "a.ml:1" if row else "", "defined_at": "",
                "held_by": "global B.y"}

    def point(index, row, blocks, size, retained):
        return {"index": index, "row": row, "blocks": blocks, "bytes": size, "retained_bytes": retained,
                "offheap_bytes": index if row == 1 else 0, "retained_offheap_bytes": index if row == 1 else 0}

    def document(by, names, rows, count):
        return json.dumps({"schema_version": 2, "verb": "trend", "by": by, "complete": True, "program": "p",
                           "snapshots": [snapshot(i) for i in range(count)], "rows": rows,
                           "names": names, "sharing": [{"row": 2, "holder": 1}]}, indent=1).encode()
    paths = [name(0, None, "all roots"), name(1, 0, "global A.x"), name(2, 1, "a / \\\\\\xFF\u00e9"),
             name(3, 0, "stack f"), name(4, 3, "string")]
    rows = [point(i, row + 1, blocks, size + grown, retained + grown)
            for row, (blocks, size, retained) in enumerate(measures) for i in range(3)
            for grown in [32 * i if row == 0 else 0]]
    for bits in 0, 2, 4, 8:
        yield "paths-%d" % bits, bytes([bits]) + document("path", paths, rows, 3)
    types = [name(i, None, "t%d" % i) for i in range(3)]
    yield "types", b"\1" + document("type", types, [point(i, r, i + 1, 8, 8) for r in range(3) for i in range(2)], 2)
    yield "unknown-members", b"\0" + document("path", paths, rows, 3).replace(b'{', b'{"x": [[{"y": 1e9}]],', 1)


def traces():
    """Whole ones, and the first packets of others; the byte in front says 'strict'."""
    for name in "trees-1e-6", "leak-1e-4", "bad-longline-bytecode", "bad-trunc-info":
        data = fixture("memtrace", name + ".ctf")[:7000]
        yield name, b"\0" + data
        yield name + "-strict", b"\1" + data
    trees = fixture("memtrace", "trees-1e-6.ctf")
    yield "noise", b"\0" + trees[:202] + b"noise" + trees[202:]
    yield "lost-packet", b"\0" + trees[:202] + trees[405:]


class Series:
    """Values of Marshal, one after the other; blocks are lists that begin with their tag."""

    def __init__(self, counts):
        self.data = b""
        self.value(b"\3" + struct.pack(">Q", counts << 48 | 0xace00ace))

    def encode(self, value):
        if isinstance(value, bytes):
            return value
        if isinstance(value, int):
            return bytes([0x40 + value]) if 0 <= value < 64 else b"\3" + struct.pack(">q", value)
        if isinstance(value, float):
            self.objects += 1
            return b"\x0c" + struct.pack("<d", value)
        if isinstance(value, str):
            self.objects += 1
            return bytes([0x20 + len(value)]) + value.encode()
        self.objects += 1
        self.words += len(value)
        head = bytes([0x80 + value[0] + 16 * (len(value) - 1)]) if len(value) < 9 else \
            b"\x08" + struct.pack(">I", (len(value) - 1) << 10 | value[0])
        return head + b"".join(self.encode(field) for field in value[1:])

    def value(self, value):
        self.objects = self.words = 0
        data = self.encode(value)
        if self.data and b"_j" in data:
            self.objects += data.count(b"_j")
        self.data += struct.pack(">5I", 0x8495A6BE, len(data), self.objects, self.words, self.words) + data


def address(number):
    return b"\x19_j\0" + struct.pack(">q", number)


def spacetimes():
    """A function that calls itself, C and what a closure holds, and allocates; a node with a hole."""
    def point(annotation, index):
        return (annotation << 38 | index + 1 << 10 | 0x3F9) >> 1
    parts = [[0, address(0x401001), address(0x401000)], [1, address(0x401002)], [2, address(0x401003)]]
    shape = 0
    for part in reversed(parts):
        shape = [0, part, shape]
    location = [0, 0, "a.ml", 3, 1, 9]
    for counts in 0, 1:
        for hole in 0, 1:
            words = [0x401001 >> 1, b"\4\1", 0] + [0] * counts
            words += [[1, (0x5001 << 2 | 3) >> 1, 0, 4, 0, [1, (0x5002 << 2 | 1) >> 1, point(2, 1), 7, 0, 0]]]
            words += [0] * hole
            words += [point(1, len(words)), 40, 0]
            s = Series(counts)
            s.value(2), s.value("begun"), s.value(0.5)
            s.value(0), s.value([0, 1.5, [0] + [5] * 9, [0, 1, 2, 40], 47, 40, [0, 1, 40, 0]])
            s.value(1), s.value(2.5)
            s.value([0, [0, address(0x401003), [0, location, 0]], 0])
            s.value([0, [0, address(0x401000), shape], 0])
            s.value(1), s.value([0] + words), s.value(0)
            yield "counts%d-hole%d" % (counts, hole), b"\0" + s.data
            yield "counts%d-hole%d-strict" % (counts, hole), b"\1" + s.data
            yield "counts%d-hole%d-cut" % (counts, hole), b"\0" + s.data[:-60]


def questions():
    """Each question about a trace and a series, with clauses and without."""
    trees = fixture("memtrace", "trees-1e-6.ctf")
    series = dict(spacetimes())["counts1-hole1"][1:]
    for question in range(11):
        for name, choice in ("all", b"\0\1\x19"), ("clauses", bytes([1 << question % 8, 0x8a, 0x5d])):
            yield "trace-%d-%s" % (question, name), bytes([question << 1]) + choice + trees
    for question in range(6):
        for count in range(5):
            yield "series-%d-%d" % (question, count), bytes([question << 1, count * 9, 0, count * 41 & 255]) + series


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "corpus")
    for name, flags, memory, data in snapshots():
        write(os.path.join(folder, "snapshot"), name, bytes([flags, memory]) + data)
    for name, data in profiles():
        write(os.path.join(folder, "profile"), name, data)
    for name, data in cores():
        write(os.path.join(folder, "core"), name, data)
    for name, data in trees():
        write(os.path.join(folder, "cmt400"), name, data)
    for name, data in marshals():
        write(os.path.join(folder, "marshal"), name, data)
    for name, data in hgprofs():
        write(os.path.join(folder, "hgprof"), name, data)
    for name, data in baselines():
        write(os.path.join(folder, "baseline"), name, data)
    for name, data in traces():
        write(os.path.join(folder, "memtrace"), name, data)
    for name, data in spacetimes():
        write(os.path.join(folder, "spacetime"), name, data)
    for name, data in questions():
        write(os.path.join(folder, "trace"), name, data)


if __name__ == "__main__":
    main()
