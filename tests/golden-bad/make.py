#!/usr/bin/env python3
"""
Makes files/ and expected.tsv: one hostile file for each message of the loaders.

    tests/golden-bad/make.py [FOLDER]

Every line of expected.tsv says what `heapgraph summary` does with one file:

    file       in files/, which is too deep for location sources in it to be found by other tests
    snapshot   '-': the file is the snapshot; else the snapshot that it is given to with --prof
    options    '-' or more options
    exit       status of the command
    message    what stderr says behind the name of the file; '-' for nothing

Messages and offsets are written down here and not taken from the program.
"""

import os
import struct
import subprocess
import sys

BASE = 0x7F0000000000
HUGE = 1 << 62

cases = []


def case(name, data, message, offset=None, snapshot="-", options="-", status=3):
    if offset is not None:
        message = "%s, at offset %d" % (message, offset)
    cases.append((name, data, snapshot, options, status, message))


def words(*numbers):
    return b"".join(struct.pack("<Q", n & (2**64 - 1)) for n in numbers)


def good(name, data, snapshot="-", options="-"):
    """A control: what the hostile files are made from is read."""
    case(name, data, "-", None, snapshot, options, 0)


# Dumps made of records: 0.1 and 0.2

HEAD = b"\x08" + words(3) + b"abc"


def chunk(start=BASE, end=BASE + 4096):
    return b"\x00" + words(start, end)


def block(address, tag, wosize, *fields, site=10):
    return b"\x01" + words(address) + bytes([tag]) + words(wosize, site, *fields)


PAIR = block(BASE + 8, 0, 2, BASE + 32, 3)
TEXT = block(BASE + 32, 252, 1)
HEAP = HEAD + chunk() + PAIR + TEXT
CODE = b"\xff" + words(0x1000, 0x2000)
BYTECODE = HEAP + CODE + words(3, BASE + 8)
NATIVE = HEAP + CODE + words(0)
STACK = words(3, 1, BASE + 8, 0)
ROOTS = words(BASE + 8, BASE + 8, 1)
MODULES = words(1, 0x5000, 2, BASE + 8, 5, 1, 0, 0)
GOOD01 = BYTECODE + STACK + ROOTS
GOOD02 = NATIVE + MODULES + words(0) + ROOTS


def cut(name, data, what, back=0, options="-"):
    """A file that ends in the middle of something that began 'back' bytes before its end."""
    message = "the file ends in the middle of %s (--partial reads what is there)" % what
    case("cut-%s.dump" % name, data, message, len(data) - back, options=options)


def cut_records():
    cut("name-length", HEAD[:5], "the program name", 4, "--as memprof01")
    cut("name", HEAD[:-1], "the program name", 2)
    cut("chunk-start", HEAD + chunk()[:8], "a chunk record", 7)
    cut("chunk-end", HEAD + chunk()[:-1], "a chunk record", 7)
    cut("blocks", HEAP, "the block records")
    cut("block", HEAD + chunk() + PAIR[:20], "a block record", 19)
    cut("fields", HEAD + chunk() + PAIR[:-1], "the fields of a block", 15)
    cut("code-start", HEAP + CODE[:5], "the code area", 4)
    cut("code-end", HEAP + CODE[:-1], "the code area", 7)
    cut("kind", HEAP + CODE, "the kind of code")
    cut("globals", BYTECODE[:-8], "the globals")
    cut("stack-size", BYTECODE, "the size of the stack")
    # Its size is checked against what is left, so that only a longer rest gets this far.
    cut("stack-end", BYTECODE + STACK[:-8], "the end of the stack")
    cut("roots", GOOD01[:-8], "the roots")
    cut("more-modules", NATIVE, "a module or the end of the modules")
    cut("module", NATIVE + words(1), "a module")
    cut("module-size", NATIVE + words(1, 0x5000, 2)[:-1], "a module", 7)
    cut("more-infos", NATIVE + MODULES, "an info or the end of the infos")
    cut("info-size", NATIVE + MODULES + words(1), "an info")
    cut("info", NATIVE + MODULES + words(1, 4) + b"abc", "an info", 3)


def partial_records():
    """--partial accepts what is missing, but no contradiction."""
    data = HEAP + CODE + words(7)
    case("partial-kind.dump", data, "0x7 where 3 (bytecode) or 0 (native) should be",
         len(data) - 8, options="--partial")


def bad_record(name, record, message, offset=0):
    data = HEAD + chunk() + record
    case(name + ".dump", data + CODE + words(3, 1, 1, 0, 1), message,
         len(HEAD + chunk()) + offset)


def bad_records():
    at = len(HEAD)
    case("empty-01.dump", b"", "is empty", 0, options="--as memprof01")
    case("words-of-4-bytes.dump", b"\x04" + GOOD01[1:],
         "a word size of 4 bytes; only dumps of 64-bit programs exist", 0)
    case("long-name.dump", b"\x08" + words(4097) + b"a" * 4097 + GOOD01[12:],
         "a program name of 4097 bytes", 1, options="--as memprof01")
    case("huge-name.dump", b"\x08" + words(-1) + GOOD01[9:],
         "a program name of 18446744073709551615 bytes", 1, options="--as memprof02")
    bad_record("unknown-record", b"\x07", "an unknown record 0x07")
    bad_record("no-words", block(BASE + 8, 0, 0), "a block of 0 words")
    bad_record("huge-block", block(BASE + 8, 252, HUGE), "a block of %d words" % HUGE)
    bad_record("long-id", block(BASE + 8, 0, 1, 1, site=1 << 21),
               "a location id of more than 21 bits")
    bad_record("odd-block", block(BASE + 9, 0, 1, 1),
               "a block at 0x7f0000000009, which is no word address")
    case("block-before-chunk.dump", HEAD + PAIR + chunk() + CODE,
         "a block before the first chunk", at)
    bad_record("overlapping-blocks", PAIR + block(BASE + 24, 0, 1, 1),
               "the block at 0x7f0000000018 overlaps the one before it", len(PAIR))
    bad_record("same-block", TEXT + TEXT,
               "the block at 0x7f0000000020 overlaps the one before it", len(TEXT))
    outside = ("the block at 0x%x of %d words lies outside its chunk, "
               "0x7f0000000000 to 0x7f0000001000")
    bad_record("block-above-chunk", block(BASE + 8192, 0, 1, 1), outside % (BASE + 8192, 1))
    bad_record("block-below-chunk", block(BASE - 8, 0, 1, 1), outside % (BASE - 8, 1))
    bad_record("block-at-0", block(0, 0, 1, 1), outside % (0, 1))
    bad_record("block-over-end", block(BASE + 4088, 252, 2), outside % (BASE + 4088, 2))
    no_range = "a chunk from 0x%x to 0x%x, which is no range of words"
    for name, start, end in (("backward", BASE + 64, BASE), ("odd-start", BASE + 4, BASE + 64),
                             ("odd-end", BASE, BASE + 60), ("beyond-48-bits", BASE, 2**48 + 8)):
        case("chunk-%s.dump" % name, HEAD + chunk(start, end) + CODE, no_range % (start, end), at)
    case("low-chunk.dump", HEAD + chunk(0x8000, 0x9000) + CODE,
         "a chunk at 0x8000, where no heap can be", at)
    case("overlapping-chunks.dump",
         HEAD + chunk() + chunk(BASE + 2048, BASE + 8192) + CODE + words(3, 1, 1, 0, 1),
         "the chunk at 0x7f0000000800 overlaps the one at 0x7f0000000000", at + 17)


def bad_rests():
    """What follows the blocks."""
    nowhere = "a root to 0x%x, outside of every chunk"
    kind = HEAP + CODE + words(1)
    case("kind-of-code.dump", kind + words(1), "0x1 where 3 (bytecode) or 0 (native) should be",
         len(kind) - 8)
    at = len(BYTECODE)
    case("stack-size-even.dump", BYTECODE + words(2) + STACK[8:] + ROOTS,
         "0x2 where the size of the stack should be", at)
    case("huge-stack.dump", BYTECODE + words(HUGE + 1) + STACK[8:] + ROOTS,
         "a stack of %d entries, more than the file holds" % (HUGE >> 1), at)
    case("stack-entry.dump", BYTECODE + words(3, 2, BASE + 8, 0) + ROOTS,
         "0x2 where a stack entry should be", at + 8)
    case("stack-entry-outside.dump", BYTECODE + words(3, 1, BASE + 8192, 0) + ROOTS,
         nowhere % (BASE + 8192), at + 16)
    case("stack-end.dump", BYTECODE + words(3, 1, BASE + 8, 9) + ROOTS,
         "0x9 where the end of the stack should be", at + 24)
    case("root-outside.dump", BYTECODE + STACK + words(BASE - 8, 1), nowhere % (BASE - 8),
         at + len(STACK))
    case("root-odd.dump", BYTECODE + STACK + words(BASE + 9, 1), nowhere % (BASE + 9),
         at + len(STACK))
    case("behind-the-end.dump", GOOD01 + b"abc", "3 bytes more after the end", len(GOOD01))
    at = len(NATIVE)
    case("module-entry.dump", NATIVE + words(2),
         "0x2 where a module or the end of the modules should be", at)
    case("huge-module.dump", NATIVE + words(1, 0x5000, HUGE, 1, 0, 0, 1),
         "a module of %d fields, more than the file holds" % HUGE, at + 16)
    at = len(NATIVE + MODULES)
    case("info-entry.dump", NATIVE + MODULES + words(3, 0, 1),
         "0x3 where an info or the end of the infos should be", at)


def cut_partial():
    """
    The sizes of a stack and of a module are checked only without --partial: so a file that ends
    inside of them is refused by its size.
    """
    case("cut-in-stack.dump", BYTECODE + words(5, 1, BASE + 8),
         "a stack of 2 entries, more than the file holds", len(BYTECODE))
    case("cut-in-module.dump", NATIVE + words(1, 2, BASE + 8),
         "a module of %d fields, more than the file holds" % (BASE + 8), len(NATIVE) + 16)


def strewn():
    """Few blocks, each in a piece of the address space of its own."""
    data = HEAD + chunk(0x10000, 1 << 47)
    for i in range(5000):
        data += block(0x10008 + (i << 27), 252, 1)
    data += CODE + words(3, 1, 1, 0, 1)
    case("strewn.dump.zst", packed(data),
         "its blocks are strewn over 5000 pieces of 32 KiB, which is no heap")


# Files of any kind


def packed(data):
    return subprocess.run(["zstd", "-19", "-q", "-c", "--no-check"], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


def bad_files():
    whole = packed(GOOD01)
    case("empty.dump", b"", "is empty", 0)
    case("text.dump", b"not a dump\n",
         "is no heap snapshot of a known format ('heapgraph info' says what it is)", 0)
    case(".", None, "is a directory, not a regular file")
    case("missing.dump", None, "cannot be opened: No such file or directory")
    case("cut.dump.zst", whole[:-9], "zstd data is cut short", len(whole) - 9)
    case("magic.dump.zst", whole[:4], "zstd data is cut short", 4)
    case("bomb.dump.zst", packed(GOOD01 + bytes(1 << 21)),
         "decompresses to more than the 1048576 bytes that fit the limit",
         options="--max-memory 16K", status=5)
    # What its first bytes tell is told before the rest is decompressed.
    case("zeros.dump.zst", packed(bytes(1 << 21)),
         "is no heap snapshot of a known format ('heapgraph info' says what it is)", 0,
         options="--max-memory 16K")
    # A reserved bit of the frame header.
    bad = whole[:4] + bytes([whole[4] | 0x08]) + whole[5:]
    case("corrupt.dump.zst", bad,
         "zstd data does not decompress: Unsupported frame parameter", 0)
    case("second-frame.dump.zst", whole + b"abcdef",
         "zstd data does not decompress: Unknown frame descriptor", len(whole))
    good("good-01.dump.zst", whole, options="--prof tests/golden-bad/files/good.prof")


# Marshalled values

STANDARD = 0x8495A6BE
IDS_01 = 0x42


def be(number, size=4):
    return number.to_bytes(size, "big")


def value(data, objects, cells=1000, magic=STANDARD, claimed=None):
    claimed = len(data) if claimed is None else claimed
    return be(magic) + be(claimed) + be(objects) + be(cells) + be(cells) + data


def number(n):
    return bytes([0x40 | n]) if 0 <= n < 64 else b"\x02" + be(n & 0xFFFFFFFF)


def text(string):
    return b"\x0a" + be(len(string)) + string


def record(*fields, tag=0):
    return b"\x08" + be(len(fields) << 10 | tag) + b"".join(fields)


def position(file, line, column):
    return record(text(file), number(line), number(0), number(column))


def location(file=b"a.ml", line=1, start=0, end=9):
    """5 objects, as each name is written out."""
    return record(position(file, line, start), position(file, line, end), number(0))


def entry(key, place=None, rest=None):
    return record(number(key), place or location(), rest or number(0))


def prof(size, *buckets):
    return record(number(size), record(*buckets))


def bad_prof(name, data, message, offset=None, status=3):
    case(name + ".prof", data, message, offset, "good-01.dump", status=status)


def bad_marshal():
    header = value(b"", 0)
    ends = "marshalled value ends inside an item"
    bad_prof("no-value", b"", "0 bytes are too few for a marshalled value", 0)
    bad_prof("short-header", header[:19], "19 bytes are too few for a marshalled value", 0)
    bad_prof("bad-magic", value(b"@", 0, magic=0x8495A6BD),
             "0x8495a6bd is not the magic of a marshalled value", 0)
    bad_prof("data-cut-short", value(b"@", 0, claimed=5),
             "a marshalled value of 5 bytes where 1 are left", 0)
    bad_prof("too-many-objects", value(b"@", 2), "2 objects in 1 bytes", 8)
    bad_prof("no-data", value(b"", 0), ends, 20)
    for name, data in (("int", b"\x02\x00"), ("block-header", b"\x08\x00"),
                       ("small-block", None), ("string", b"\x25abcd"), ("string-length", b"\x09"),
                       ("string-id", None), ("float", b"\x0c1234567"), ("floats", b"\x0d"),
                       ("code-pointer", b"\x10\x00\x00\x00\x00"), ("shared", b"\x06\x00\x00"),
                       ("custom-name", b"\x12_i"), ("custom-data", b"\x12_j\x001234567"),
                       ("nativeint", b"\x12_n\x00")):
        magic, at = STANDARD, 21
        if name == "small-block":
            data, magic = b"\x90\x00\x00", IDS_01
        elif name == "string-id":
            data, magic = b"\x21\x00\x00", IDS_01
        elif name in ("custom-data", "nativeint"):
            at = 24
        bad_prof("ends-in-" + name, value(data, 1, magic=magic), ends, at)
    bad_prof("huge-string", value(b"\x0a\xff\xff\xff\xff", 1), ends, 25)
    bad_prof("huge-floats", value(b"\x07\xff\xff\xff\xff", 1), ends, 25)
    bad_prof("unknown-code", value(b"\x16", 0), "code 0x16 is not one of a marshalled value", 20)
    bad_prof("unknown-custom", value(b"\x12_big\x1b[2J\x0012345678", 1),
             'unknown kind of custom block "_big?[2J"', 21)
    bad_prof("nativeint-width", value(b"\x12_n\x00\x0312345678", 1),
             "nativeint of unknown width", 21)
    bad_prof("more-objects", value(record(text(b"a"), text(b"b")), 2),
             "more than the 2 objects that the header of the marshalled value says", 31)
    bad_prof("tag-without-fields", value(record(b"@", tag=252), 1),
             "a block of tag 252 cannot have fields", 20)
    bad_prof("huge-marshalled-block", value(b"\x13" + be(2**64 - 1024, 8), 1),
             "a block of %d fields, and 0 others to come, in the 0 bytes left" % (2**33 - 1), 20)
    bad_prof("more-fields", value(record(record(b"@", b"@"), b"@")[:-2], 2),
             "a block of 2 fields, and 1 others to come, in the 1 bytes left", 25)
    bad_prof("larger-than-said", value(record(b"@", b"@"), 1, cells=2),
             "the value is larger than its header says", 20)
    bad_prof("reference-0", value(b"\x04\x00", 0),
             "a reference 0 objects back where there are 0", 20)
    bad_prof("reference-ahead", value(record(b"\x04\x02"), 1),
             "a reference 2 objects back where there are 1", 25)
    bad_prof("left-over", value(b"@@", 0), "1 bytes are left over behind a marshalled value", 21)
    bad_prof("fewer-objects", value(record(b"@"), 2), "the header says 2 objects, 1 are there", 8)


def large_marshal():
    """Sizes that no real source has, in files that decompress to them."""
    size = 1 << 30
    data = value(b"", 0, claimed=size + 1) + bytes(size + 1)
    case("large-value.prof.zst", packed(data),
         "a marshalled value of %d bytes is too large" % (size + 1), 0, "good-01.dump", status=5)
    fields = (1 << 24) - 1
    data = value(b"\x13" + be(fields << 10, 8) + b"@" * fields, 1, cells=fields)
    case("large-block.prof.zst", packed(data),
         "a marshalled block of %d fields is too large" % fields, 20, "good-01.dump", status=5)


# Location sources


def bad_profs():
    good("good-01.dump", GOOD01, options="--prof tests/golden-bad/files/good.prof")
    good("good.prof", value(prof(1, entry(10)), 8), "good-01.dump")
    table = "not a table of location ids"
    bad_prof("behind-the-table", value(prof(0), 1) + b"abc", "3 bytes follow the location table",
             len(value(prof(0), 1)))
    bad_prof("no-table", value(b"@", 0), table, 0)
    bad_prof("no-buckets", value(record(number(0)), 1), table, 0)
    bad_prof("no-size", value(record(record(b"@"), record(b"@")), 3), table, 0)
    no_entry = "entry 0 of the location table is not one"
    bad_prof("entry-is-string", value(prof(1, text(b"a")), 3), no_entry, 0)
    bad_prof("entry-without-key", value(prof(1, record(text(b"a"), location(), b"@")), 9),
             no_entry, 0)
    bad_prof("entry-of-2", value(prof(1, record(number(1), location())), 8), no_entry, 0)
    bad_prof("negative-id", value(prof(1, entry(-1)), 8), "-1 is not a location id", 0)
    bad_prof("id-of-23-bits", value(prof(1, entry(1 << 22)), 8), "4194304 is not a location id", 0)
    # The rest of the entry is the entry: 6 objects back, of the 8 there are.
    bad_prof("circle", value(prof(1, entry(10, rest=b"\x04\x06")), 8),
             "the lists of the location table run in circles", 0)
    bad_prof("wrong-count", value(prof(7, entry(10)), 8),
             "the location table says 7 entries, 1 are there", 0)
    bad_prof("huge-count", value(record(b"\x03" + b"\x3f" + b"\xff" * 7, record(b"@")), 2),
             "the location table says %d entries, 0 are there" % (2**62 - 1), 0)
    place = "entry %d of the location source is not a location"
    bad_prof("location-is-int", value(prof(1, entry(10, number(1))), 3), place % 0, 0)
    bad_prof("second-location", value(prof(2, entry(10, rest=entry(11, record(b"@")))), 10),
             place % 1, 0)
    no_name = record(record(b"@", b"@", b"@", b"@"), position(b"a", 1, 1), b"@")
    bad_prof("file-is-int", value(prof(1, entry(10, no_name)), 7), place % 0, 0)
    bad_prof("long-file-name", value(prof(1, entry(10, location(b"a" * 4097))), 8, cells=9999),
             "a file name of 4097 bytes", 0)


def bad_locations():
    options = "--as memprof02"
    good("good-02.dump", GOOD02, options=options + " --prof tests/golden-bad/files/good.locations")
    array = value(record(location(), location(line=2)), 11)
    good("good.locations", array + array, "good-02.dump", options)
    cases02 = (("array-is-int", value(b"@", 0), "not an array of locations", 0),
               ("second-array", array + value(text(b"a"), 1), "not an array of locations",
                len(array)),
               ("array-of-int", value(record(b"@"), 1),
                "entry 0 of the location source is not a location", 0),
               ("behind-the-array", array + b"abc", "3 bytes are too few for a marshalled value",
                len(array)))
    for name, data, message, offset in cases02:
        case(name + ".locations", data, message, offset, "good-02.dump", options)


def info_chunk(data, name=b"LOCS", size=None):
    return name + struct.pack("<I", len(data) if size is None else size) + data


def bad_process_infos():
    magic = b"OCP-2017P001"
    described = record(record(location(), b"@"), b"@")
    table = record(record(b"@", b"@", b"@", b"@", record(described)), tag=1)
    good("good-ocp.dump", Ocp().dump(), options="--prof tests/golden-bad/files/good.process_info")
    good("good.process_info",
         magic + info_chunk(b"abc", b"XXXX") + info_chunk(value(table, 10)), "good-ocp.dump")
    more = info_chunk(value(table, 10) + b"abc")
    no_table = value(record(b"@", tag=1), 1)
    wrong_tag = value(table.replace(be(1 << 10 | 1), be(1 << 10 | 2), 1), 10)
    cases17 = (("no-magic", b"OCP-2017P002", "not a process_info file (OCP-2017P001)", 0),
               ("short-magic", magic[:-1], "not a process_info file (OCP-2017P001)", 0),
               ("cut-chunk-header", magic + b"LOCS\x01", "the file ends inside a chunk", 12),
               ("cut-chunk", magic + info_chunk(b"abc", size=4),
                "a chunk of 4 bytes, 3 are left", 12),
               ("behind-the-value", magic + more, "3 bytes follow a location table",
                len(magic + more) - 3),
               ("no-table", magic + info_chunk(no_table), "not a table of locations", 20),
               ("wrong-tag", magic + info_chunk(wrong_tag), "not a table of locations", 20),
               ("no-location", magic + info_chunk(value(
                   record(record(b"@", b"@", b"@", b"@", record(b"@")), tag=1), 3)),
                "entry 0 of the location source is not a location", 20))
    for name, data, message, offset in cases17:
        case(name + ".process_info", data, message, offset, "good-ocp.dump")


# OCP dumps


def uint(n):
    """7 bits per byte, the low ones first; the last one has bit 7 set."""
    out = b""
    while n > 127:
        out += bytes([n & 127])
        n >>= 7
    return out + bytes([n | 128])


def ocp_block(wosize, tag, site=1, bits=10):
    return be(3 << 37 | wosize << (8 + bits) | site << 8 | tag, 5)


def frame(start, size, file=None):
    out = b"\x01" + words(start) + uint(size)
    if not file:
        return out + b"\x00"
    return out + b"\x01" + uint(len(file)) + file + uint(1) + uint(2) + uint(3)


OCP_PAIR = ocp_block(2, 0) + b"\x03\xf0"
OCP_TEXT = ocp_block(1, 252)
OCP_FREE = b"\x82"
ROOT_WORDS = words(BASE + 8) + words(0x100, BASE + 8) + words(0x200, BASE + 8) + words(
    BASE + 8) + words(0x300, BASE + 8)
ROOT_COUNTS = words(1, 0, 1, 1, 1, 1)
FRAMES = frame(0x100, 8, b"a.ml") + frame(0x108, 8) + b"\x02"
THREADS = uint(6) + uint(0) + uint(1) + b"\x02" + uint(0)
NAMES = uint(2) + b"x" + words(0x200) + uint(0)
WEAK = words(BASE + 8) + uint(2) + uint(1) + words(BASE + 32)
NUMBERS = uint(1) * 5


def ocp_info(*fields, stat=None):
    stat = stat or record(*[number(i) for i in range(15)])
    fields = fields or (number(42), number(0), number(2), stat, number(0), number(0))
    return value(record(*fields), 2)


class Ocp:
    """A good dump, any piece of which can be replaced."""

    def __init__(self, **pieces):
        self.head = b"OCP-2014D001" + bytes([64, 10, 0, 1]) + uint(3) + b"abc"
        self.sections = {
            "BLKS": OCP_PAIR + OCP_TEXT + OCP_FREE,
            "STRS": words(8) + b"abc\0\0\0\0\0",
            "CHKS": words(2) + b"\x01" + words(1, BASE, 64),
            "ROOT": ROOT_WORDS + FRAMES + THREADS + NAMES + ROOT_COUNTS,
            "WEAK": WEAK + words(0),
            "FINA": NUMBERS + words(BASE + 8, BASE + 32),
            "INFO": ocp_info(),
        }
        self.footer = None
        for name, piece in pieces.items():
            if name in self.sections:
                self.sections[name] = piece
            else:
                setattr(self, name, piece)

    def start(self, section):
        at = len(self.head)
        for name, piece in self.sections.items():
            if name == section:
                break
            at += len(piece)
        return at

    def dump(self):
        body = self.head + b"".join(self.sections.values())
        footer = b"".join(name.encode() + words(self.start(name)) for name in self.sections)
        return body + (footer + words(len(self.sections)) if self.footer is None else self.footer)


def bad_ocp(name, message, section, offset, **pieces):
    """'offset' in the section, or from the start of the file."""
    ocp = Ocp(**pieces)
    at = (ocp.start(section) if section else 0) + offset
    case("ocp-%s.dump" % name, ocp.dump(), message, at)


def bad_ocp_heads():
    head = Ocp().head
    case("ocp-other-magic.dump", b"OCP-2014D002" + Ocp().dump()[12:],
         "does not begin with OCP-2014D001", 0, options="--as ocp2014")
    case("ocp-no-header.dump", head[:14], "the file ends in its header", 12)
    for name, at, byte, message in (
            ("32-bits", 12, 32, "words of 32 bits; only dumps of 64-bit programs are read"),
            ("long-ids", 13, 23, "location ids of 23 bits, more than 22"),
            ("native-2", 14, 2, "2 where 0 (bytecode) or 1 (native) should be"),
            ("version-2", 15, 2, "version 2 of the format; known are 0 and 1")):
        bad_ocp(name, message, None, at, head=head[:at] + bytes([byte]) + head[at + 1:])
    short = head[:16]
    case("ocp-no-name.dump", short, "the section ends in the middle of the name of the dump", 16)
    case("ocp-name-cut.dump", short + uint(4) + b"abc",
         "4 bytes of the name of the dump where 3 are left", 17)
    case("ocp-name-number.dump", short + b"\x7f" * 10,
         "a number of more than 64 bits in the name of the dump", 25)


def bad_ocp_footers():
    whole = Ocp().dump()
    lost = ("ends without the table of its sections: it was cut short, and such a dump cannot be "
            "read without its end, not even in part")
    for name, data in (("nothing-behind-head", Ocp().head), ("cut", whole[:-1]),
                       ("0-sections", whole[:-8] + words(0)),
                       ("17-sections", whole[:-8] + words(17)),
                       ("huge-sections", whole[:-8] + words(HUGE))):
        case("ocp-%s.dump" % name, data, lost, len(data))
    footer = len(whole) - 8 - 7 * 12
    at = Ocp().start("BLKS")

    def patched(offset, data):
        return whole[:offset] + data + whole[offset + len(data):]

    case("ocp-first-section.dump", patched(footer + 4, words(at + 1)),
         "the first section at %d, but the header ends at %d" % (at + 1, at), footer + 4)
    case("ocp-backward-section.dump", patched(footer + 24 + 4, words(1)),
         "a section that begins at %d and ends at 1" % Ocp().start("STRS"), footer + 12)
    case("ocp-section-outside.dump", patched(footer + 72 + 4, words(HUGE)),
         "a section that begins at %d and ends at %d" % (Ocp().start("FINA"), HUGE), footer + 60)
    case("ocp-second-section.dump", patched(footer + 12, b"BLKS"), "a second section BLKS",
         footer + 12)
    case("ocp-no-section.dump", patched(footer + 48, b"WEEK"), "there is no section WEAK", footer)


def inside(what):
    return "the section ends in the middle of " + what


def bad_ocp_chunks():
    def bad(name, message, offset, chks, **more):
        bad_ocp("chunks-" + name, message, "CHKS", offset, CHKS=chks, **more)

    bad("no-blocks", inside("the number of blocks"), 0, b"abc")
    bad("no-graph", inside("its header"), 8, words(2))
    bad("graph-2", "2 where 1 (with the graph) or 0 (without) should be", 8,
        words(2) + b"\x02" + words(0))
    bad("no-number", inside("the number of chunks"), 9, words(2) + b"\x01")
    bad("huge-number", "%d chunks, more than the section holds" % HUGE, 9,
        words(2) + b"\x01" + words(HUGE, BASE, 64))
    bad("huge-chunk", "a chunk of %d bytes at 0x7f0000000000" % HUGE, 17,
        words(2) + b"\x01" + words(1, BASE, HUGE))
    bad("low-chunk", "a chunk of 64 bytes at 0xff8", 17, words(2) + b"\x01" + words(1, 0xFF8, 64))
    bad("odd-chunk", "a chunk from 0x7f0000000000 to 0x7f0000000001, which is no range of words",
        17, words(2) + b"\x01" + words(1, BASE, 1))
    bad("wrapping-chunk", "a chunk from 0x%x to 0x38, which is no range of words" % (2**64 - 8),
        17, words(2) + b"\x01" + words(1, -8, 64))
    bad("more", "3 bytes more at the end of CHKS", 33,
        words(2) + b"\x01" + words(1, BASE, 64) + b"abc")
    bad("overlapping", "the chunk at 0x7f0000000008 overlaps the one at 0x7f0000000000", 33,
        words(3) + b"\x01" + words(2, BASE, 64, BASE + 8, 16),
        BLKS=Ocp().sections["BLKS"] + ocp_block(1, 0) + b"\xf0")


def bad_ocp_strings():
    def bad(name, message, offset, strs):
        bad_ocp("strings-" + name, message, "STRS", offset, STRS=strs)

    bad("no-header", inside("its header"), 0, b"abc")
    bad("odd", "7 bytes of strings, 8 bytes of each", 0, words(8) + b"abcdefg")
    bad("size", "16 bytes of strings, 16 bytes of each", 0, words(16) + bytes(16))
    bad("fewer", "0 strings where 1 should be", 8, words(8))
    bad("more", "2 strings where 1 should be", 8, words(8) + bytes(16))


def bad_ocp_blocks():
    def bad(name, message, offset, blks, **more):
        bad_ocp("blocks-" + name, message, "BLKS", offset, BLKS=blks, **more)

    pair, rest = ocp_block(2, 0), OCP_TEXT + OCP_FREE
    ends = "in a chunk that ends at 0x7f0000000040"
    bad("missing", inside("the blocks"), len(OCP_PAIR + OCP_TEXT), OCP_PAIR + OCP_TEXT)
    bad("long-entry-cut", inside("the blocks"), 0, b"\x00abc")
    bad("free-cut", inside("the blocks"), 0, b"\xff" + words(1)[:-1])
    bad("over-end", "a block of 8 words at 0x7f0000000008, " + ends, 0, ocp_block(8, 0))
    bad("huge", "a block of %d words at 0x7f0000000008, %s" % (2**32 - 1, ends), 0,
        be((2**32 - 1) << 30, 8))
    bad("huge-free", "free memory of %d words at 0x7f0000000008, %s" % (2**64 - 1, ends), 0,
        b"\xff" + words(-1))
    bad("of-0", "a block of 0 words", 0, ocp_block(0, 0))
    bad("no-field", inside("a block"), len(pair) + 1, pair + b"\x03")
    bad("field-cut", inside("a field"), len(pair) + 2, pair + b"\x03\xe0")
    bad("more-fields", "more fields than the block at 0x7f0000000008 has", len(pair) + 1,
        pair + b"\x03\xf3" + rest)
    bad("far-pointer", "a pointer from the block at 0x7f0000000008 over %d words, out of the "
        "address space" % (2**63 - 1), len(pair) + 1, pair + b"\x03\xff" + be(2**63 - 1, 8) + rest)
    bad("low-pointer", "a pointer from the block at 0x7f0000000008 over %d words, out of the "
        "address space" % -(BASE // 8), len(pair) + 1,
        pair + b"\x03\xff" + be(2**64 - BASE // 8, 8) + rest)
    bad("more", "3 bytes more at the end of BLKS", len(OCP_PAIR + rest), OCP_PAIR + rest + b"abc")
    bad_ocp("blocks-number", "2 blocks, but CHKS says 3", "BLKS", len(OCP_PAIR + rest),
            CHKS=words(3) + b"\x01" + words(1, BASE, 64))


def bad_ocp_roots():
    def bad(name, message, offset, root, counts=ROOT_COUNTS, **more):
        bad_ocp("roots-" + name, message, "ROOT", offset, ROOT=root + counts, **more)

    rest = FRAMES + THREADS + NAMES
    at = len(ROOT_WORDS)
    nowhere = "a root to 0x%x, outside of every chunk"
    bad("no-counts", inside("the numbers of roots"), 0, b"", ROOT_COUNTS[:-1])
    bad("huge-count", "%d roots, more than the section holds" % HUGE, at + len(rest) + 16,
        ROOT_WORDS + rest, words(1, 0, HUGE, 1, 1, 1))
    bad("no-globals", inside("the globals"), 0, b"", words(0) * 6)
    bad("dynamic", inside("the globals"), 16, words(BASE + 8, 1), words(0, 2, 0, 0, 0, 0))
    bad("slot-cut", inside("a root"), 24, words(BASE + 8, 1, 0x100), words(0, 1, 1, 0, 0, 0))
    bad("value-cut", inside("a root"), 24, words(BASE + 8, BASE + 8, 0x100),
        words(0, 1, 1, 0, 0, 0))
    bad("stack", nowhere % (BASE + 64), 16,
        words(BASE + 8, 0x100, BASE + 64) + ROOT_WORDS[24:] + rest)
    bad("finalised", nowhere % 8, at - 24, ROOT_WORDS[:-24] + words(8) + ROOT_WORDS[-16:] + rest)
    bad("no-stack", inside("a stack"), at, ROOT_WORDS)
    bad("stack-code", "an unknown code 0x03 in a stack", at, ROOT_WORDS + b"\x03" + rest)
    bad("frame-start", inside("a frame"), at + 1, ROOT_WORDS + b"\x01abc")
    bad("frame-size", inside("a frame"), at + 10, ROOT_WORDS + b"\x01" + words(0) + b"\x01")
    bad("frame-place", inside("a frame"), at + 10, ROOT_WORDS + b"\x01" + words(0) + uint(1))
    bad("frame-file", "9 bytes of a file name where 3 are left", at + 12,
        ROOT_WORDS + b"\x01" + words(0) + uint(1) + b"\x01" + uint(9) + b"abc")
    bad("no-threads", inside("a thread"), at + len(FRAMES), ROOT_WORDS + FRAMES)
    thread = "a thread with roots %d to %d of the 1 left to threads"
    bad("thread-backward", thread % (1, 0), at + len(FRAMES),
        ROOT_WORDS + FRAMES + uint(1) + uint(1) + uint(0) + b"\x02" + uint(0) + NAMES)
    bad("thread-beyond", thread % (0, 2), at + len(FRAMES),
        ROOT_WORDS + FRAMES + uint(1) + uint(0) + uint(2) + b"\x02" + uint(0) + NAMES)
    names = at + len(FRAMES + THREADS)
    bad("no-names", inside("a named value"), names, ROOT_WORDS + FRAMES + THREADS)
    bad("name-cut", "4 bytes of the name of a value where 3 are left", names + 1,
        ROOT_WORDS + FRAMES + THREADS + uint(5) + b"abc")
    bad("name-slot", inside("a named value"), names + 2,
        ROOT_WORDS + FRAMES + THREADS + uint(2) + b"x")
    bad("more", "3 bytes more at the end of ROOT", at + len(rest), ROOT_WORDS + rest + b"abc")
    native = Ocp().head[:14] + b"\x01" + Ocp().head[15:]
    bad("no-module", inside("a module"), 16, words(1, 5), words(2, 0, 0, 0, 0, 0), head=native)
    bad("huge-module", "a module of %d fields, more than the section holds" % HUGE, 0,
        words(HUGE), words(1, 0, 0, 0, 0, 0), head=native)


def bad_ocp_rests():
    outside = "%s, 0x%x, outside of every chunk"
    for name, message, offset, weak in (
            ("no-end", inside("a weak array"), 0, b""),
            ("array", outside % ("a weak array", 0x99), 0, words(0x99) + WEAK[8:]),
            ("size", inside("a weak array"), 8, WEAK[:8]),
            ("count", inside("a weak array"), 9, WEAK[:9]),
            ("more-than-size", "a weak array of 2 words with 3 pointers", 0,
             WEAK[:8] + uint(2) + uint(3) + words(0) * 3),
            ("pointer", outside % ("a weak pointer", 1), 10, WEAK[:10] + words(1, 0)),
            ("more", "3 bytes more at the end of WEAK", 8, words(0) + b"abc")):
        bad_ocp("weak-" + name, message, "WEAK", offset, WEAK=weak)
    bad_ocp("finalised-numbers", inside("its numbers"), "FINA", 4, FINA=uint(1) * 4)
    bad_ocp("finalised-cut", inside("a finalised value"), "FINA", 5, FINA=NUMBERS + b"abc")
    bad_ocp("finalised-outside", "a root to 0x7f0000000040, outside of every chunk", "FINA", 5,
            FINA=NUMBERS + words(BASE + 64))
    wrong = "INFO does not hold the process, the number of the dump and Gc.stat"
    bad_ocp("info-empty", "0 bytes are too few for a marshalled value", "INFO", 0, INFO=b"")
    bad_ocp("info-more", "3 bytes more at the end of INFO", "INFO", len(ocp_info()),
            INFO=ocp_info() + b"abc")
    bad_ocp("info-int", wrong, "INFO", 0, INFO=value(b"@", 0))
    bad_ocp("info-negative", wrong, "INFO", 0, INFO=ocp_info(
        number(-1), number(0), number(0), record(*[number(0)] * 9)))
    bad_ocp("info-short-stat", wrong, "INFO", 0, INFO=ocp_info(
        number(1), number(0), number(0), record(*[number(0)] * 8)))


def make_cases():
    cut_records()
    cut_partial()
    partial_records()
    bad_records()
    bad_rests()
    strewn()
    bad_files()
    bad_marshal()
    large_marshal()
    bad_profs()
    bad_locations()
    bad_process_infos()
    bad_ocp_heads()
    bad_ocp_footers()
    bad_ocp_chunks()
    bad_ocp_strings()
    bad_ocp_blocks()
    bad_ocp_roots()
    bad_ocp_rests()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    make_cases()
    names = [c[0] for c in cases]
    if len(names) != len(set(names)):
        sys.exit("names twice: %s" % sorted(n for n in names if names.count(n) > 1))
    os.makedirs(os.path.join(folder, "files"), exist_ok=True)
    with open(os.path.join(folder, "expected.tsv"), "w") as table:
        table.write("# file\tsnapshot\toptions\texit\tmessage\n")
        for name, data, snapshot, options, status, message in cases:
            table.write("\t".join((name, snapshot, options, str(status), message)) + "\n")
            if data is not None:
                with open(os.path.join(folder, "files", name), "wb") as out:
                    out.write(data)


if __name__ == "__main__":
    main()
