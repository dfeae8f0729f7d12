#!/usr/bin/env python3
"""
Makes a core, and its program, in which one kind of table fills nearly all of the file: an honest
one, or one made to be read as slowly as can be.

    bench/hostile_cores.py KIND honest|hostile MEGABYTES FOLDER
    bench/hostile_cores.py --kinds

FOLDER gets 'core' and 'exe'.  bench/hostile measures them; tests/cli/hostile.sh reads small ones.
"""

import os
import struct
import sys
from array import array

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "fuzz"))
import make_core as m  # noqa: E402

TABLE = 0x40000000   # where the big table is, in memory of the process
PAGE = 4096
MOST = (1 << 64) - 1


class Case:
    """A small program of make_core.py, its variables by name, and room for the table."""

    def __init__(self, program, major, size):
        self.p, self.major, self.size = program, major, size // PAGE * PAGE
        self.at = {name: address for name, address, _, _ in program.symbols}
        self.notes, self.files = b"", None
        self.phdrs = []

    def table(self, words, address=TABLE):
        """Puts an array of words (or bytes) into the process."""
        data = words.tobytes() if isinstance(words, array) else bytes(words)
        data += bytes(-len(data) % PAGE)
        self.p.regions[address] = bytearray(data)

    def set(self, name, *words, offset=0):
        self.p.words(self.at[name] + offset, *words)

    def word(self, address):
        for start, memory in self.p.regions.items():
            if start <= address < start + len(memory):
                return struct.unpack_from("<Q", memory, address - start)[0]
        raise ValueError(hex(address))


def words(count, value=0):
    return array("Q", [value]) * count


def ramp(start, step, count):
    return array("Q", range(start, start + step * count, step))


def four(size):
    return Case(m.ocaml4(), 4, size)


def five(size):
    return Case(m.ocaml5(), 5, size)


def list_links(start, stride, count):
    """Links of a list of 'count' nodes that lie 'stride' bytes apart, the last one 0."""
    links = ramp(start + stride, stride, count)
    links[-1] = 0
    return links


def list_of(count, stride):
    return list_links(TABLE, stride, count)


# Tables


def frames(size, hostile):
    """Descriptors of 16 bytes; keys that a multiplication by a known number sends to one place."""
    case = five(size)
    count = case.size // 16 - 1
    table = words(2 * count + 1, 32)
    table[0] = count
    if hostile:
        inverse = pow(0x9e3779b97f4a7c15, -1, 1 << 64)
        table[1::2] = array("Q", (inverse * j & MOST for j in range(1, count + 1)))
    else:
        table[1::2] = ramp(0x7f0000000010, 40, count)
    case.table(table)
    case.set("caml_frametable", TABLE)
    return case


def frame_lists(size, hostile):
    """Tables of descriptors: each in its own place, or each a tail of the one before."""
    case = five(size)
    each = 16 if hostile else 64
    count = case.size // (each + 8)
    table = words(count + 1)
    table[:count] = ramp(TABLE + 8 * (count + 2), each, count)
    tables = words(count * each // 8 + 1, 32)
    if hostile:
        tables[0::2] = words(len(tables[0::2]), count)
    else:
        tables[0::8] = words(len(tables[0::8]), 3)
        tables[1::2] = ramp(0x7f0000000010, 40, len(tables[1::2]))
    case.table(table + words(1) + tables)
    case.p.words(case.p.variable("unused", 0), 0)
    # caml_frametable itself is the list of tables.
    case.p.symbols = [s if s[0] != "caml_frametable" else (s[0], TABLE, 8, 1)
                      for s in case.p.symbols]
    return case


def symbols(size, hostile):
    """Of the executable: names of their own, or all of them tails of one string."""
    case = five(size)
    count = size // (24 + 16)
    case.symbols = (count, hostile)
    return case


def sections(size, hostile):
    """Of the executable: an honest one of that size has few; each a table of symbols without
    strings."""
    case = five(size)
    case.sections = (size, hostile)
    return case


def segments(size, hostile):
    """Of the core, with a large block in each: side by side, or strewn over the address space."""
    case = five(size)
    count = size // (56 + 64)
    heap = case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8) + 280
    heap = case.word(heap)
    step = PAGE if not hostile else 0x7000000000 // count // PAGE * PAGE
    start = 0x100000000
    case.loads = []
    for i in range(count):
        address = start + i * step
        following = address + step if i < count - 1 else 0
        block = struct.pack("<8Q", 0, following, m.header(1, 0), 1, 0, 0, 0, 0)
        case.loads.append((address, block))
    case.p.words(heap + 1024, start)
    return case


def file_maps(size, hostile):
    """NT_FILE: many mappings of few files, or a file for each, with an ELF header of notes."""
    case = five(size)
    each = 24 + (15 if hostile else 12)
    if hostile:
        each += 64
    count = size // each
    lines, paths = words(3 * count), []
    lines[0::3] = ramp(TABLE, 64, count)
    lines[1::3] = ramp(TABLE + 64, 64, count)
    for i in range(count):
        paths.append(b"/f/%011d\0" % i if hostile else b"/f/%08d\0" % (i // (count // 4 + 1)))
    case.files = (lines, b"".join(paths))
    if hostile:
        # Every 64 bytes a header whose 256 segments of notes are those in front of the next 64 KiB.
        block, heads = 65536, 0
        body = bytearray(count * 64 // block * block + block)
        phdrs = struct.pack("<IIQQQQQQ", 4, 4, 0, 0, 0, 32768, 0, 4) * 200
        for start in range(0, len(body), block):
            for at in range(0, 32768, 64):
                head = m.elf_header(3, 0, 200)
                head = head[:32] + struct.pack("<Q", 32768 - at) + head[40:]
                body[start + at:start + at + 64] = head
                heads += 1
            body[start + 32768:start + 32768 + len(phdrs)] = phdrs
        case.table(bytes(body))
    return case


def threads(size, hostile):
    """NT_PRSTATUS: threads on stacks of their own, or all of them on one deep stack of C."""
    case = five(size)
    depth = 500
    each = 356 + (0 if hostile else 128)
    count = (size - (depth * 16 if hostile else 0)) // each
    case.threads = (count, hostile, depth)
    return case


def fibers(size, hostile):
    """Continuations and a deep stack: one of them is suspended on it, or all of them are."""
    case = five(size)
    heap = case.word(case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8) + 280)
    pool_bytes, slots = 32768, (4096 - 4) // 2
    pools = size // 2 // pool_bytes
    body = words(pools * 4096)
    stack_at = TABLE + pools * pool_bytes
    deep = (size - pools * pool_bytes) // 32 - 8
    for i in range(pools):
        at = i * 4096
        body[at:at + 4] = array("Q", [TABLE + (i + 1) * pool_bytes if i < pools - 1 else 0, 0, 0, 1])
        body[at + 4:at + 4 + 2 * slots:2] = words(slots, m.header(1, 245))
        body[at + 5:at + 5 + 2 * slots:2] = words(slots, stack_at | 1 if hostile else 1)
    body[5] = stack_at | 1
    stack = words(4 * deep + 16)
    stack[0:3] = array("Q", [stack_at + 24, 0, stack_at + 8 * (3 + 4 * deep + 5)])
    stack[3:3 + 4 * deep:4] = words(deep, m.CODE + 16)
    stack[3 + 4 * deep] = m.CODE + 48
    case.table(body + stack)
    case.p.words(heap + 256 + 8, TABLE)
    return case


def globals_(size, hostile):
    """Blocks of units: one list of them, or as many lists as blocks."""
    case = five(size)
    if hostile:
        count = size // 48
        table = words(count + 1, TABLE + 8 * (count + 1)) + ramp(TABLE + 8 * (2 * count + 3), 8, count)
        table[count] = 0
        table += words(1) + words(count + 1, m.header(0, 0))
    else:
        count = size // 32
        table = array("Q", [TABLE + 16, 0]) + ramp(TABLE + 8 * (2 + count + 2), 24, count) + words(1)
        blocks = words(3 * count, m.header(2, 0))
        blocks[1::3] = blocks[2::3] = words(count, m.AREA + 0x9028)
        table += blocks
    case.table(table)
    case.p.symbols = [s if s[0] != "caml_globals" else (s[0], TABLE, 8, 1) for s in case.p.symbols]
    return case


def fragments(size, hostile):
    """Fragments of code beside ranges of code of units: few of the latter, or as many."""
    case = five(size)
    cells = size // 128 if hostile else size // 64
    ranges = cells * 4 if hostile else 4
    start = TABLE + 16 * (ranges + 1)
    table = words(2 * (ranges + 1))
    table[0:2 * ranges:2] = ramp(0x500000000000, 64, ranges)
    table[1:2 * ranges:2] = ramp(0x500000000020, 64, ranges)
    body = words(8 * cells)
    body[1::8] = ramp(start + 48, 64, cells)
    body[5::8] = list_links(start, 64, cells)
    body[6::8] = ramp(0x600000000000, 64, cells)
    body[7::8] = ramp(0x600000000020, 64, cells)
    case.table(table + body)
    case.p.symbols = [s if s[0] != "caml_code_segments" else (s[0], TABLE, 8, 1)
                      for s in case.p.symbols]
    head = case.word(case.at["code_fragments_by_pc"])
    case.p.words(head + 40, start)
    return case


def named_values(size, hostile):
    """Each with a short name, or with one as long as can be that begins like all others."""
    case = five(size)
    stride = 1040 if hostile else 40
    count = case.size // stride
    text = b"x" * 1008 + b"%08d" if hostile else b"value %08d"
    out = bytearray(case.size)
    for i in range(count):
        following = TABLE + (i + 1) * stride if i < count - 1 else 0
        struct.pack_into("<QQ", out, i * stride, m.AREA + 0x9028, following)
        name = text % i
        out[i * stride + 16:i * stride + 16 + len(name)] = name
    case.table(out)
    case.set("named_value_table", TABLE)
    return case


def c_roots(size, hostile):
    """Roots of C code: in variables of their own, or at offsets in one with a very long name."""
    case = five(size)
    count = case.size // 32
    table = words(4 * count)
    table[0::4] = (ramp(m.DATA + 0x1000, 8, 64) * (count // 64 + 1))[:count] if hostile else ramp(
        TABLE + 24, 32, count)
    table[2::4] = list_links(TABLE, 32, count)
    table[3::4] = words(count, m.AREA + 0x9028)
    case.table(table)
    case.set("caml_global_roots", TABLE)
    if hostile:
        case.p.symbols.append(("n" * 4000, m.DATA + 0x1000, 0x200, 1))
    return case


def local_roots(size, hostile):
    """CAMLparam blocks: one with a great table, or many with five such tables, all the same."""
    case = five(size)
    state = case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8)
    count = case.size // 2 // 64 if hostile else 1
    items = (case.size - 64 * count) // 8
    table = words(8 * count)
    table[0::8] = list_of(count, 64)
    table[1::8] = words(count, 5 if hostile else 1)
    table[2::8] = words(count, items)
    for i in range(5):
        table[3 + i::8] = words(count, TABLE + 64 * count)
    case.table(table + words(items, m.AREA + 0x9028))
    case.p.words(state + 160, TABLE)
    return case


def ephemerons(size, hostile):
    """A list of them in the heap; hostile: each alive only by the data of the next one."""
    case = five(size)
    heap = case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8)
    pools, slots = size // 32768, (4096 - 4) // 4
    body = words(pools * 4096)
    addresses = array("Q")
    for i in range(pools):
        at = i * 4096
        first = 4 + (4096 - 4) % 4
        body[at:at + 4] = array("Q", [TABLE + (i + 1) * 32768 if i < pools - 1 else 0, 0, 0, 3])
        body[at + first:at + 4096:4] = words(slots, m.header(3, 251))
        addresses += ramp(TABLE + 8 * (at + first + 1), 32, slots)
    links = addresses[1:] + words(1, 1)
    keys = links if hostile else words(len(addresses), m.AREA + 0x9028)
    for i in range(pools):
        at, n = i * 4096 + 4 + (4096 - 4) % 4, i * slots
        body[at + 1:i * 4096 + 4096:4] = links[n:n + slots]
        body[at + 2:i * 4096 + 4096:4] = addresses[n:n + slots]
        body[at + 3:i * 4096 + 4096:4] = keys[n:n + slots]
    case.table(body)
    case.p.words(case.word(heap + 280) + 256 + 24, TABLE)
    case.p.words(case.word(heap + 168) + 8, addresses[0])
    return case


def finalisers(size, hostile):
    """The queue of finalisers that wait: one great table, or many that overlap."""
    case = five(size)
    state = case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8)
    value = m.AREA + 0x9028
    table = words(case.size // 8, value)
    if hostile:
        count = case.size // 24 - 8
        table[0:3 * count:3] = list_of(count, 24)
        table[1:3 * count:3] = words(count, count // 2)
    else:
        table[0:2] = array("Q", [0, case.size // 24 - 1])
    case.table(table)
    case.p.words(case.word(state + 176) + 80, TABLE)
    return case


def customs(size, hostile):
    """Custom blocks: of one kind, or each of its own with a name that all share."""
    case = five(size)
    heap = case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8)
    each = 32768 + (8 * 2046 if hostile else 0)
    pools, slots = size // each, (4096 - 4) // 2
    body = words(pools * 4096)
    kinds = TABLE + pools * 32768
    for i in range(pools):
        at = i * 4096
        body[at:at + 4] = array("Q", [TABLE + (i + 1) * 32768 if i < pools - 1 else 0, 0, 0, 1])
        body[at + 4:at + 4096:2] = words(slots, m.header(1, 255))
        body[at + 5:at + 4096:2] = ramp(kinds + 8 * i * slots, 8, slots) if hostile else words(
            slots, kinds)
    name = words(16, 0x7878787878787878)
    name[15] = 0x78787878787878
    body += words(pools * slots if hostile else 1, kinds + 8 * (pools * slots if hostile else 1))
    case.table(body + name)
    case.p.words(case.word(heap + 280) + 256 + 8, TABLE)
    return case


def memprof(size, hostile):
    """Profiled blocks: with call stacks of their own; or in tables that are all the same one, and
    with one long call stack."""
    case = five(size)
    state = case.word(case.word(case.word(case.at["stw_domains"] + 8)) + 8)
    profile = case.word(state + 464)
    block = case.word(m.AREA + 0x9000 + 32 + 8 * ((4096 - 4) % 2) + 8) and m.AREA + 0x9028
    descriptor = case.word(case.at["caml_frametable"]) + 8
    tables = size // 4 // 104 if hostile else 0
    stack = 96 if hostile else 5
    each = 48 if hostile else 48 + 8 * (stack + 1)
    count = (size - 104 * tables) // each
    entries = words(6 * count)
    start = TABLE + 104 * tables
    stacks = start + 48 * count
    entries[0::6] = words(count, block)
    entries[1::6] = words(count, stacks + 8) if hostile else ramp(stacks + 8, 8 * (stack + 1), count)
    entries[2::6] = words(count, 1)
    entries[3::6] = words(count, 1)
    body = words(13 * tables)
    if tables:
        body[0::13] = words(tables, start)
        body[3::13] = words(tables, count)
        body[8::13] = list_links(TABLE, 104, tables)
    call = array("Q", [m.header(stack, 0)]) + words(stack, descriptor | 1)
    case.table(body + entries + call * (1 if hostile else count))
    case.p.words(profile + 8, start, 0, count, count)
    if hostile:
        case.p.words(profile + 72, TABLE)
    return case


def deleted_samples(size, hostile):
    """Entries of a profile that were deleted: in one table; hostile: it is in many lists."""
    case = memprof(size, hostile)
    table = array("Q")
    table.frombytes(bytes(case.p.regions[TABLE]))
    tables = size // 4 // 104 if hostile else 0
    count = (size - 104 * tables) // (48 if hostile else 48 + 48)
    first = 13 * tables
    table[first + 5:first + 6 * count:6] = words(count, 1 << 6)
    case.table(table)
    return case


def systhreads(size, hostile):
    """
    Threads of the library in a ring: side by side; or overlapping, so that their links are taken for
    headers and fields of blocks that are no part of the heap, too, which the honest ones have apart.
    """
    case = five(size)
    stride = 16 if hostile else 200
    room = case.size if hostile else case.size // 2
    count = room // stride - 16
    table = words(case.size // 8)
    step = stride // 8
    if not hostile:
        # Of each thread its descriptor and the last exception.
        table[0:step * count:step] = table[9:9 + step * count:step] = words(count, m.AREA + 0x9028)
        # An array of references; the first thread's descriptor leads to it.
        first = room // 8
        length = (len(table) - first - 1) // 3
        small = first + 1 + length
        table[0] = TABLE + 8 * (first + 1)
        table[first] = m.header(length, 0, m.BLACK)
        table[first + 1:small] = ramp(TABLE + 8 * (small + 1), 16, length)
        table[small:small + 2 * length:2] = words(length, m.header(1, 0, m.BLACK))
        table[small + 1:small + 2 * length:2] = words(length, 1)
    table[1:1 + step * count:step] = list_links(TABLE, stride, count)
    case.table(table)
    case.p.words(case.word(case.at["thread_table"]), TABLE)
    return case


def page_table(size, hostile):
    """The table of pages of 4.x: half full; or full, with pointers that must be looked for in it."""
    case = four(size)
    slots = 1
    while 16 * slots <= size // 2:
        slots *= 2
    table = ramp(0x600000000004, PAGE, slots)
    if not hostile:
        table[1::2] = words(slots // 2)
    left = (size - 8 * slots) // PAGE * PAGE
    # A chunk of blocks whose fields lead to a place out of the heap.
    area = 0x80000000
    targets = TABLE - PAGE
    case.p.region(targets, PAGE)
    case.p.words(targets + 8, m.header(1, 0, m.BLACK), 1)
    body = words(left // 8)
    body[0::2] = words(len(body[0::2]), m.header(1, 0, m.WHITE))
    body[1::2] = words(len(body[1::2]), targets + 16)
    case.table(table)
    head = words(PAGE // 8)
    head[PAGE // 8 - 4:] = array("Q", [8 * len(body) // 16 * 16, case.word(case.at["caml_heap_start"]),
                                       0, 0])
    case.table(head + body, area)
    case.set("caml_heap_start", area + PAGE)
    case.set("caml_page_table", slots, 64 - (slots.bit_length() - 1), slots - 1, slots, TABLE)
    return case


def digests(size, hostile):
    """Static data with a table of units; hostile: with the heads of many that each reach far."""
    case = five(size)
    case.p.symbols = [s for s in case.p.symbols if s[0] != "caml_globals_map"]
    count = case.size // 32
    if hostile:
        head = struct.pack("<Q", m.header(count * 3, 252)) + struct.pack(
            ">IIIII", 0x8495a6be, count * 16, count, 1, 1) + bytes([0x80] * 4)
        body = head * count
    else:
        body = bytes(case.size)
    case.table(body)
    case.p.symbols = [s if s[0] != "caml_data_segments" else (s[0], TABLE + case.size, 8, 1)
                      for s in case.p.symbols]
    end = words(PAGE // 8)
    end[0], end[1] = TABLE, TABLE + case.size
    case.table(body + end.tobytes())
    return case


KINDS = {
    "frames": frames, "frame-lists": frame_lists, "symbols": symbols, "sections": sections,
    "segments": segments, "file-maps": file_maps, "threads": threads, "fibers": fibers,
    "globals": globals_, "fragments": fragments, "named-values": named_values, "c-roots": c_roots,
    "local-roots": local_roots, "ephemerons": ephemerons, "finalisers": finalisers,
    "customs": customs, "memprof": memprof, "deleted-samples": deleted_samples,
    "systhreads": systhreads, "page-table": page_table, "digests": digests,
}

# Files


def with_symbols(program, count, tails):
    """The executable with 'count' symbols more: its tables of symbols and strings are moved."""
    out = bytearray(program)
    (shoff,) = struct.unpack_from("<Q", out, 40)
    sections_ = bytearray(out[shoff:shoff + 5 * 64])
    symtab, strtab = 3, 4
    old = struct.unpack_from("<QQ", sections_, 64 * symtab + 24)
    text = struct.unpack_from("<QQ", sections_, 64 * strtab + 24)
    strings = bytes(out[text[0]:text[0] + text[1]])
    first = len(strings)
    entries = [bytes(out[old[0]:old[0] + old[1]])]
    if tails:
        strings += b"s" * (16 * count) + b"\0"
        last = len(strings) - 4096
        for i in range(count):
            entries.append(struct.pack("<IBBHQQ", last + i % 1024 - 0, 0x12, 0, 2, m.TEXT, 16))
    else:
        strings += b"".join(b"symbol_%08d\0" % i for i in range(count))
        for i in range(count):
            entries.append(struct.pack("<IBBHQQ", first + 16 * i, 0x12, 0, 2, m.TEXT, 16))
    entries = b"".join(entries)
    at = len(out)
    struct.pack_into("<QQ", sections_, 64 * symtab + 24, at, len(entries))
    struct.pack_into("<QQ", sections_, 64 * strtab + 24, at + len(entries), len(strings))
    out += entries + strings
    out += bytes(-len(out) % 8)
    struct.pack_into("<Q", out, 40, len(out))
    return bytes(out + sections_)


def with_unwinding(program):
    """The executable with .eh_frame: all of its text has frames of one word."""
    out = bytearray(program)
    (shoff,) = struct.unpack_from("<Q", out, 40)
    headers = bytearray(out[shoff:shoff + 5 * 64])
    text = struct.unpack_from("<QQ", headers, 64 * 4 + 24)
    strings = bytes(out[text[0]:text[0] + text[1]]) + b".eh_frame\0"
    # CFA = rsp + 8, the return address just below.
    cie = struct.pack("<IIB1sBBB5B", 0, 0, 1, b"\0", 1, 0x78, 16, 12, 7, 8, 0x90, 1)
    cie += bytes(-len(cie) % 8)
    cie = struct.pack("<I", len(cie) - 4) + cie[4:]
    fde = struct.pack("<IIQQ", 20, len(cie) + 4, m.TEXT, 0x1000)
    out += bytes(-len(out) % 8)
    at, data = len(out), cie + fde + bytes(4)
    struct.pack_into("<QQ", headers, 64 * 4 + 24, at + len(data), len(strings))
    headers += struct.pack("<IIQQQQIIQQ", len(strings) - 10, 1, 2, m.TEXT + 0x800, at, len(data), 0, 0,
                           8, 0)
    out += data + strings
    out += bytes(-len(out) % 8)
    struct.pack_into("<Q", out, 40, len(out))
    struct.pack_into("<H", out, 60, 6)
    return bytes(out + headers)


def with_sections(program, size, many):
    """The executable with bytes nobody looks at, or with as many tables of symbols as fit."""
    out = bytearray(program)
    (shoff,) = struct.unpack_from("<Q", out, 40)
    old = bytearray(out[shoff:shoff + 5 * 64])
    out += bytes(-len(out) % 8)
    if not many:
        at = len(out) + size // 8 * 8
        out += bytes(at - len(out))
        struct.pack_into("<Q", out, 40, at)
        return bytes(out + old)
    count = size // 64
    table = struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 64 + 4, size // 2, 1, 1, 8, 24)
    at = len(out) + 4
    out += bytes(4)
    # More sections than the header can tell: their number is the size of the first.
    struct.pack_into("<Q", old, 32, count + 5)
    struct.pack_into("<QHHH", out, 40, at, 0, 0, 0)
    struct.pack_into("<Q", out, 40, at)
    struct.pack_into("<HHH", out, 58, 64, 0, 4)
    return bytes(out + old + table * count)


def core(case, program):
    """As make_core.core(), with the notes and segments that a case has of its own."""
    p = case.p
    if not (case.files or hasattr(case, "loads") or hasattr(case, "threads")):
        return m.core(p, program)
    small = m.core(p, program)
    (count,) = struct.unpack_from("<H", small, 56)
    phdrs = [list(struct.unpack_from("<IIQQQQQQ", small, 64 + 56 * i)) for i in range(count)]
    notes = small[phdrs[0][2]:phdrs[0][2] + phdrs[0][5]]
    body = bytearray(small)
    if case.files:
        lines, paths = case.files
        own = struct.pack("<8Q", 2, 4096, m.BASE, m.DATA, 0, m.DATA, m.DATA + m.DATA_SIZE, 2)
        head = struct.pack("<QQ", len(lines) // 3 + 2, 4096)
        cut = notes.index(m.note(b"CORE", 0x46494c45, own + 2 * (m.PATH + b"\0")))
        notes = notes[:cut] + m.note(b"CORE", 0x46494c45, head + own[16:] + lines.tobytes() +
                                     2 * (m.PATH + b"\0") + paths)
        for phdr in phdrs:
            if phdr[3] == TABLE:
                phdr[1] = 5
    if hasattr(case, "threads"):
        notes += stacks_of(case, body, phdrs)
    for address, data in getattr(case, "loads", ()):
        phdrs.append([1, 6, len(body), address, address, len(data), PAGE, 4])
        body += data
    phdrs[0][2], phdrs[0][5] = len(body), len(notes)
    body += notes + bytes(-len(notes) % 8)
    body[32:40] = struct.pack("<Q", len(body) + 64)
    table = b"".join(struct.pack("<IIQQQQQQ", *phdr) for phdr in phdrs)
    if len(phdrs) >= 0xffff:
        struct.pack_into("<H", body, 56, 0xffff)
        struct.pack_into("<QHHHHH", body, 40, len(body), 0, 0, 0, 0, 0)
        struct.pack_into("<Q", body, 40, len(body))
        struct.pack_into("<HHHHHH", body, 52, 64, 56, 0xffff, 64, 1, 0)
        body += struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, len(phdrs), 0, 0)
    else:
        struct.pack_into("<H", body, 56, len(phdrs))
        body += bytes(64)
    return bytes(body + table)


def stacks_of(case, body, phdrs):
    """Notes of threads in a function whose frame is one word, and the stacks they stand on."""
    count, shared, depth = case.threads
    stack = words(2 * depth if shared else 16 * count, m.TEXT + 0x81 if shared else 0)
    if not shared:
        stack[8::16] = words(count, m.TEXT + 0x81)
    address = 0x7e0000000000
    phdrs.append([1, 6, len(body), address, address, 8 * len(stack), 8 * len(stack), 4])
    body += stack.tobytes()
    notes = []
    registers = [0] * 27
    registers[16], registers[21] = m.TEXT + 0x80, m.THREAD + 0x100
    for i in range(count):
        registers[19] = address + (0 if shared else 128 * i + 64)
        status = bytearray(336)
        struct.pack_into("<I", status, 32, 5000 + i)
        struct.pack_into("<27Q", status, 112, *registers)
        notes.append(m.note(b"CORE", 1, bytes(status)))
    return b"".join(notes)


def main():
    if sys.argv[1:] == ["--kinds"]:
        print("\n".join(KINDS))
        return
    kind, mood, size, folder = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    case = KINDS[kind](int(size * 1e6), mood == "hostile")
    program = m.executable(case.p, case.major)
    if hasattr(case, "symbols"):
        program = with_symbols(program, *case.symbols)
    if hasattr(case, "sections"):
        program = with_sections(program, *case.sections)
    if hasattr(case, "threads"):
        program = with_unwinding(program)
    os.makedirs(folder, exist_ok=True)
    for name, data in (("exe", program), ("core", core(case, program))):
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main()
