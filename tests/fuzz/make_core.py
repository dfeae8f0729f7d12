#!/usr/bin/env python3
"""
Makes small programs with an OCaml runtime in which there is one of everything, and cores of them:
what the fuzzer of cores changes, and what tests/cli/bad_cores.sh damages.

    tests/fuzz/make_core.py [FOLDER]

Offsets are those of snapshot/runtime/layout.h, written down once more so that a mistake there shows.
"""

import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BASE, TEXT, DATA, DATA_SIZE = 0x400000, 0x401000, 0x402000, 0x3000
AREA, MINOR, STACK, THREAD = 0x10000000, 0x20000000, 0x7ffd00000000, 0x7f1000000000
CODE = TEXT + 0x100
NONE = DATA + 0x2f00  # what caml_ephe_none holds
PATH = b"/synthetic/program"
WHITE, GRAY, BLUE, BLACK = range(4)


def header(wosize, tag, color=WHITE):
    return wosize << 10 | color << 8 | tag


class Program:
    """Memory by address, symbols, and room in the data for more."""

    def __init__(self):
        self.regions = {}
        self.symbols = []
        self.next = DATA

    def region(self, address, size):
        self.regions[address] = bytearray(size)

    def put(self, address, data):
        for start, memory in self.regions.items():
            if start <= address and address + len(data) <= start + len(memory):
                memory[address - start:address - start + len(data)] = data
                return
        raise ValueError(hex(address))

    def words(self, address, *words):
        self.put(address, b"".join(struct.pack("<Q", w & (1 << 64) - 1) for w in words))
        return address

    def data(self, *words, size=0):
        address, self.next = self.next, self.next + max(8 * len(words), size)
        return self.words(address, *words)

    def variable(self, name, *words, size=0):
        address = self.data(*words, size=size)
        self.symbols.append((name, address, max(8 * len(words), size), 1))
        return address

    def static(self, tag, *fields):
        return self.data(header(len(fields), tag, BLACK), *fields) + 8

    def text(self, tag, text):
        return self.static(tag, *struct.unpack("<%dQ" % ((len(text) + 8) // 8), padded(text)))

    def block(self, at, tag, *fields, color=WHITE):
        """Writes a block whose header is at an address; returns what points to it."""
        self.words(at, header(len(fields), tag, color), *fields)
        return at + 8


def padded(text):
    size = (len(text) + 8) // 8 * 8
    return text + bytes(size - len(text) - 1) + bytes([size - len(text) - 1])


def common(p, version, block):
    """What 4.x and 5.x have alike; C roots and a named value lead to a block.  Returns the atoms."""
    p.region(TEXT, 0x1000)
    p.region(DATA, DATA_SIZE)
    p.region(STACK, 0x1000)
    p.put(TEXT, b"\x48\xb8" + struct.pack("<Q", (1 << 55) - 1) + b"\xc3")
    p.symbols += [("caml_sys_const_max_wosize", TEXT, 11, 2), ("caml_call_gc", TEXT + 0x40, 16, 2),
                  ("camlProg__f_1", CODE, 64, 2)]
    p.symbols.append(("camlStdlib__Sys", p.static(0, 1, p.text(252, version)), 16, 1))
    # Two frames, one with debuginfo and an allocation, and the one that returns to C.
    table = p.data(3)
    p.data(CODE + 16)
    p.put(p.next, struct.pack("<HHHHI", 32 | 1, 2, 0, 8, 40))
    p.next += 16
    p.data(CODE + 32)
    p.put(p.next, struct.pack("<HHH", 32 | 2, 1, 0) + b"\x01\x00")
    p.next += 8
    p.data(CODE + 48, 0xffff)
    # prog.ml:7:2-10, of Prog.f; the name is 8 bytes behind.
    place = 7 << 19 | 2 << 10 | 10 << 3 if version[:1] == b"5" else 7 << 12 | 2 << 4
    p.data((8 if version[:1] == b"5" else 8 | 10 << 26) | place << 32)
    p.data(size=24)
    p.put(p.next - 24, struct.pack("<I", 16) + b"Prog.f\0" + bytes(5) + b"prog.ml\0")
    p.variable("caml_frametable", table, 0)
    atoms = p.data(*[0x300 + tag for tag in range(256)], 0)
    p.variable("caml_code_segments", CODE, CODE + 0x40, 0, 0)
    p.variable("caml_gc_phase", 3)
    p.words(NONE - 8, header(1, 251, BLACK), 1)
    p.variable("caml_ephe_none", NONE)
    slot = p.data(block)
    p.symbols.append(("c_root", slot, 8, 1))
    cell = p.data(slot, 0, 0)
    for name in ("caml_global_roots", "caml_global_roots_young", "caml_global_roots_old"):
        p.variable(name, cell if name == "caml_global_roots" else 0, size=144)
    named = p.data(block, 0, *struct.unpack("<2Q", b"Printexc.handler"[:15] + b"\0"))
    p.variable("named_value_table", named, size=13 * 8)
    p.variable("caml_dyn_globals", 0)
    return atoms


def module(p, *fields):
    block = p.static(0, *fields)
    p.symbols.append(("camlProg", block, 8 * len(fields), 1))
    p.variable("caml_globals", p.data(block, 0), 0)
    p.variable("caml_data_segments", DATA, DATA + DATA_SIZE - 0x200, 0, 0)


def heap_blocks(p, at):
    """Blocks side by side: a list, floats, a string, a closure with infix, a bigarray, an array with
    its fields, an ephemeron, free space."""
    identifier = p.data(*struct.unpack("<2Q", b"_bigarr02".ljust(16, b"\0")))
    operations = p.data(identifier, size=64)

    def add(tag, *fields, color=WHITE):
        nonlocal at
        value = p.block(at, tag, *fields, color=color)
        at = value + 8 * len(fields)
        return value

    cell = add(0, 3, 1)
    cell = add(0, 5, cell)
    add(254, 0x3ff0000000000000, 0)
    text = add(252, *struct.unpack("<2Q", padded(b"hello, world")))
    closure = add(247, CODE, 1 << 56 | 4 << 1 | 1, 3 << 10 | 249, CODE, 1 << 56 | 1 << 1 | 1, cell)
    custom = add(255, operations, 0x30000000, 1, 0x200 | 3, 0, 4096)
    fields = cell, text, closure + 24, custom, NONE, 7
    array = add(0, *fields)
    ephemeron = add(251, 1, text, cell, NONE)
    add(0, 1, 1, 1, color=BLUE)
    p.words(at, header(0, 0))
    return fields, array, ephemeron, closure, at + 8


def ocaml4():
    p = Program()
    p.region(AREA, 0x1000)
    p.region(AREA + 0x1000, 0x1000)
    p.region(MINOR, 0x1000)
    atoms = common(p, b"4.13.1", AREA + 0x108)
    chunk, far, end = AREA + 0x100, AREA + 0x1200, AREA + 0x1400
    fields, array, ephemeron, closure, at = heap_blocks(p, chunk)
    # A free block reaches over the border of two segments; one behind it is live, one is free.
    p.words(at, header((far - at) // 8 - 1, 0, BLUE))
    p.block(far, 0, array, 3)
    p.words(far + 24, header((end - far) // 8 - 4, 0, BLUE))
    p.words(chunk - 48, 0, 0, end - chunk, 0)
    # Minor heap: a block that has just been promoted, its first field aside, and one that stays.
    young = MINOR + 0xf00
    p.words(young, 0, array, *fields[1:])
    p.block(young + 56, 0, array, 3, 5, *[1] * 16)
    # Stack: a frame of f, a frame without slots, then C.
    sp = STACK + 0x800
    p.words(sp, array, young + 64, 0, CODE + 32, closure, 1, 1, CODE + 48, 0, 0, 0, 0, 0)
    p.words(STACK + 0xc00, 0, 1, 2, STACK + 0xc20, 0)
    p.words(STACK + 0xc20, array, young + 8)
    state = p.data(size=424)
    for offset, value in ((8, young), (32, MINOR), (40, MINOR + 0x1000), (48, MINOR),
                          (56, young + 56 + 160), (88, 1), (208, sp),
                          (216, CODE + 16), (288, STACK + 0xc00), (336, (end - chunk) // 8)):
        p.words(state + offset, value)
    p.variable("Caml_state", state)
    p.variable("caml_heap_start", chunk)
    p.variable("caml_atom_table", atoms)
    p.variable("caml_ephe_list_head", ephemeron)
    finals = p.data(closure, array, 0, closure, array, 0)
    p.variable("finalisable_first", finals, 1, 1, 2)
    p.variable("finalisable_last", finals, 0, 0, 2)
    p.variable("to_do_hd", p.data(0, 1, closure, array, 0))
    sample = p.data(array, 1, 6, array, 0, 0)
    p.variable("entries_global", sample, 0, 1, 1, 0, 0)
    p.variable("caml_memprof_main_ctx", size=64)
    other, thread = p.next, p.next + 112
    p.data(size=224)
    p.words(other, array, thread, thread, 0, sp, CODE + 16)
    p.words(thread, array, other, other)
    p.variable("curr_thread", thread)
    entries = p.data(AREA | 1, DATA | 4, DATA + 0x1000 | 4, MINOR | 2)
    p.variable("caml_page_table", 4, 62, 3, 4, entries)
    fragment = p.data(0x500000, 0x500040)
    p.variable("code_fragments_by_pc", p.data(0x500000, fragment, 0), size=144)
    p.variable("frametables", 0)
    module(p, array, closure, 1, atoms + 8, p.static(0, 1, array), far + 8)
    return p


def ocaml5():
    p = Program()
    p.region(AREA, 0x12000)
    p.region(MINOR, 0x1000)
    p.region(THREAD, 0x100)
    atoms = common(p, b"5.3.0", AREA + 0x9028)
    p.symbols.append(("atoms", atoms, 2048, 1))
    # A pool of 8 words and one of 2, and a large block.
    pool, small, large = AREA + 0x1000, AREA + 0x9000, AREA
    state = p.data(size=992)
    p.words(pool, 0, 0, state, 7)
    p.words(small, 0, 0, state, 1)
    first = pool + 32 + 8 * ((4096 - 4) % 8)
    identifier = p.data(*struct.unpack("<2Q", b"_bigarr02".ljust(16, b"\0")))
    operations = p.data(identifier, size=64)
    cell = p.block(small + 32 + 8 * ((4096 - 4) % 2), 0, 1)
    text = p.block(first, 252, *struct.unpack("<6Q", padded(b"a string that fills its slot ........")
                                              .ljust(48, b"\0")))
    closure = p.block(first + 64, 247, CODE, 1 << 56 | 4 << 1 | 1, 3 << 10 | 249, CODE,
                      1 << 56 | 1 << 1 | 1, cell)
    custom = p.block(first + 128, 255, operations, 0x30000000, 1, 0x200 | 3, 0, 4096)
    array = p.block(first + 192, 0, cell, text, closure + 24, custom, NONE, 7)
    ephemeron = p.block(first + 256, 251, 1, text, cell, NONE, 1, 1)
    p.words(large, 0, 0)
    p.block(large + 16, 0, array, text, *[3] * 200)
    fiber, handler = STACK + 0x100, STACK + 0x280
    continuation = p.block(first + 320, 245, fiber | 1, 1, 1, 1, 1, 1)
    p.words(fiber, STACK + 0x200, 0, handler)
    p.words(STACK + 0x200, CODE + 16, array, cell, 0, CODE + 48, 0, 0, 0, 0)
    p.words(STACK + 0x200 + 40, 0, 0, 0, 0)
    p.words(fiber + 16, STACK + 0x200 + 8 + 32 + 32)
    p.words(STACK + 0x200 + 72, closure, closure, closure, 0)
    young = MINOR + 0xf00
    p.words(young, 0, array, text, closure + 24, custom, NONE, 7)
    p.block(young + 56, 0, array, 3, continuation, *[1] * 21)
    p.variable("caml_global_heap_state", 0, 1 << 8, 2 << 8)
    p.variable("caml_minor_heaps_start", MINOR)
    p.variable("caml_minor_heaps_end", MINOR + 0x1000)
    heap = p.data(size=1120)
    p.words(heap + 8 * 7, pool)
    p.words(heap + 256 + 8, small)
    p.words(heap + 1024, large)
    stack = STACK + 0x600
    p.words(stack, STACK + 0x700, 0, STACK + 0x700 + 72)
    p.words(STACK + 0x700, CODE + 16, array, young + 64, 0, CODE + 48, 0, 0, 0, 0)
    p.words(STACK + 0x700 + 72, 1, 1, 1, 0)
    p.words(STACK + 0xc00, 0, 1, 2, STACK + 0xc20, 0)
    p.words(STACK + 0xc20, array, young + 8)
    finals = p.data(closure, array, 0)
    info = p.data(size=112)
    p.words(info, finals, 1, 1, 2)
    p.words(info + 80, p.data(0, 1, closure, array, 0))
    ephemerons = p.data(0, ephemeron, 0)
    memprof = p.data(size=160)
    sample = p.data(array, array, 1, 6, 0, 0)
    p.words(memprof + 8, sample, 0, 1, 1, 0, 0, 0, array)
    thread = p.data(array, size=120)
    p.words(thread + 8, thread)
    for offset, value in ((8, young), (16, MINOR), (24, MINOR + 0x1000), (40, stack),
                          (160, STACK + 0xc00), (168, ephemerons), (176, info), (280, heap),
                          (304, array), (464, memprof)):
        p.words(state + offset, value)
    domain = p.data(0, state)
    p.variable("stw_domains", 1, p.data(domain))
    p.variable("pool_freelist", size=632)
    p.variable("orph_structs", 0, 0)
    p.variable("orphans", 0)
    p.variable("thread_table", p.data(thread, size=144))
    p.variable("current_frame_descrs", size=72)
    fragment = p.data(0x500000, 0x500040)
    cell5 = p.data(0x500000, fragment, 0, 0, 0, 0)
    p.variable("code_fragments_by_pc", p.data(0, 0, 0, 0, 0, cell5))
    p.words(THREAD + 0x80, state)
    p.symbols.append(("caml_state", 0, 8, 6))
    module(p, array, closure, 1, atoms + 8, p.static(0, 1, large + 24), continuation)
    return p


def phdr(kind, flags, offset, address, size, memory=None):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size,
                       size if memory is None else memory, 8 if kind == 7 else 4)


def elf_header(kind, entry, phdrs, sections=(0, 0, 0)):
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", kind, 62, 1, entry, 64, sections[0], 0, 64, 56, phdrs, 64, *sections[1:])


def note(owner, kind, data):
    out = struct.pack("<III", len(owner) + 1, len(data), kind) + owner + b"\0"
    out += bytes(-len(out) % 4) + data
    return out + bytes(-len(out) % 4)


def executable(p, major):
    build_id = note(b"GNU", 3, bytes([major] * 20))
    strings, symbols = b"\0", bytes(24)
    for name, address, size, kind in p.symbols:
        section = 2 if kind == 2 else 1
        symbols += struct.pack("<IBBHQQ", len(strings), 1 << 4 | kind, 0, section, address, size)
        strings += name.encode() + b"\0"
    names = b"\0.data\0.text\0.symtab\0.strtab\0"
    out = bytearray(DATA + DATA_SIZE - BASE)
    out[TEXT - BASE:DATA - BASE] = p.regions[TEXT]
    out[DATA - BASE:] = p.regions[DATA]
    at = len(out)
    sections = bytes(64)
    for name, kind, flags, address, offset, size, link, entry in (
            (1, 1, 3, DATA, DATA - BASE, DATA_SIZE, 0, 0), (7, 1, 6, TEXT, TEXT - BASE, 0x1000, 0, 0),
            (13, 2, 0, 0, at, len(symbols), 4, 24),
            (21, 3, 0, 0, at + len(symbols), len(strings + names), 0, 0)):
        sections += struct.pack("<IIQQQQIIQQ", name + len(strings) if kind else 0, kind, flags,
                                address, offset, size, link, 1, 8, entry)
    out += symbols + strings + names
    out += bytes(-len(out) % 8)
    phdrs = phdr(1, 5, 0, BASE, DATA - BASE) + phdr(1, 6, DATA - BASE, DATA, DATA_SIZE)
    phdrs += phdr(7, 4, DATA - BASE, DATA, 0, 0x80) + phdr(4, 4, 0x200, BASE + 0x200, len(build_id))
    head = elf_header(2, TEXT, 4, (len(out), 5, 4)) + phdrs
    out[:len(head)] = head
    out[0x200:0x200 + len(build_id)] = build_id
    return bytes(out) + sections


def core(p, program):
    registers = [0] * 27
    registers[16], registers[19], registers[21] = TEXT + 0x80, STACK + 0x400, THREAD + 0x100
    status = bytearray(336)
    struct.pack_into("<I", status, 32, 4711)
    struct.pack_into("<27Q", status, 112, *registers)
    process = bytearray(136)
    process[40:47] = b"program"
    files = struct.pack("<8Q", 2, 4096, BASE, DATA, 0, DATA, DATA + DATA_SIZE, 2) + 2 * (PATH + b"\0")
    notes = note(b"CORE", 1, bytes(status)) + note(b"CORE", 3, bytes(process))
    notes += note(b"CORE", 6, struct.pack("<4Q", 9, TEXT, 0, 0)) + note(b"CORE", 0x46494c45, files)
    p.regions[BASE] = program[:0x1000]
    loads = [(a, m) for a, m in sorted(p.regions.items()) if a != TEXT]
    offset = 0x1000
    phdrs = phdr(4, 4, 64 + 56 * (len(loads) + 1), 0, len(notes))
    body = b""
    for address, memory in loads:
        phdrs += phdr(1, 5 if address == BASE else 6, offset, address, len(memory))
        # What comes next in the file is not what comes next in memory.
        body += bytes(memory) + (bytes(4096) if address == AREA else b"")
        offset = 0x1000 + len(body)
    head = elf_header(4, 0, len(loads) + 1) + phdrs + notes
    return head + bytes(0x1000 - len(head)) + body


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "cores")
    os.makedirs(folder, exist_ok=True)
    for name, program in (("4.13", ocaml4()), ("5.3", ocaml5())):
        file = executable(program, int(name[0]))
        for end, data in ((".exe", file), (".core", core(program, file))):
            with open(os.path.join(folder, name + end), "wb") as out:
                out.write(data)


if __name__ == "__main__":
    main()
