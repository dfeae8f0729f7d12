#!/usr/bin/env python3
"""
Makes traces/ and traces.tsv: one hostile trace or series for each message of their readers.

    tests/golden-bad/make_traces.py [FOLDER]

Every line of traces.tsv says what one command does with one file:

    file       in traces/
    command    of heapgraph, with options; the file follows
    exit       status of the command
    message    what stderr says behind the name of the file; '-' for nothing

Messages and offsets are written down here and not taken from the program, and the encoders have
nothing in common with it.  unmet.tsv has the messages that no file can bring about, and why.
"""

import os
import struct
import subprocess
import sys

INFO = "trace info"
REST = "; the rest was read (trace info counts what was lost)"

cases = []


def add(name, data, status, message, offset=None, command=INFO):
    if offset is not None:
        message += ", at offset %d" % offset
    cases.append((name, data, command, status, message))


def good(name, data, command=INFO):
    """A control: there is nothing to say."""
    add(name, data, 0, "-", None, command)
    add(name, data, 0, "-", None, command + " --strict")


def refused(name, data, message, offset=None, status=3, command=INFO):
    """With and without --strict."""
    add(name, data, status, message, offset, command)
    add(name, data, status, message, offset, command + " --strict")


def lost(name, data, message, offset=None, command=INFO, why=None):
    """Read on, or refused with --strict, then perhaps with another (message, offset)."""
    at = "" if offset is None else ", at offset %d" % offset
    add(name, data, 4, "PARTIAL: " + message + at + REST, None, command)
    add(name, data, 3, *(why or (message, offset)), command + " --strict")


# Traces of memtrace

START = 1700000000000000
PID = 4242
NO_SLOT = (0xFFFF, 0, 0)
U64 = 2**64 - 1


def packet(*events, version=3, begin=START, end=START, pid=PID, domain=0, verifier=NO_SLOT,
           ids=(0, 0), bits=None, magic=0xC1FC1FC1):
    body = b"".join(events)
    size = (68 if version >= 3 else 66) + len(body)
    head = struct.pack("<IIQQIHQ", magic, size * 8 if bits is None else bits, begin, end, 0,
                       version, pid)
    if version >= 3:
        head += struct.pack("<H", domain)
    return head + struct.pack("<HHQQQ", *verifier, *ids) + body


def event(code, time=0):
    return struct.pack("<I", code << 25 | (START + time & 0x1FFFFFF))


def vint(number):
    if number < 253:
        return bytes([number])
    return b"\xfd" + struct.pack("<H", number) if number < 65536 else \
        b"\xff" + struct.pack("<Q", number)


def about(rate=0.5, bits=64, version=3, code=0):
    return event(code) + struct.pack("<dB", rate, bits) + b"a.exe\0host\0params\0" + \
        struct.pack("<Q", PID) + (b"context\0" if version > 1 else b"")


def location(code, *records):
    return event(1) + struct.pack("<QB", code, len(records)) + b"".join(records)


def record(line, start, end, file, function, *names):
    number = line | start << 20 | end << 28 | file << 38 | function << 43
    return struct.pack("<Q", number)[:6] + b"".join(n + b"\0" for n in names)


def miss(bucket, code):
    return struct.pack("<HQ", bucket << 2 | 3, code)


def short(time=0, words=2, common=0, count=0, code=b""):
    return event(100 + words, time) + vint(common) + bytes([count]) + code


def long(length=20, samples=1, source=0, common=vint(0), count=0, code=b"", time=0):
    return event(2, time) + vint(length) + vint(samples) + bytes([source]) + common + \
        struct.pack("<H", count) + code


def promoted(delta, time=0):
    return event(3, time) + delta


def collected(delta, time=0):
    return event(4, time) + delta


HEAD = packet(about())
PLACES = packet(location(7, record(3, 1, 9, 31, 31, b"a.ml", b"f")))
FIRST = packet(short(count=1, code=miss(5, 7)), short(common=1), ids=(0, 2))
BEFORE = HEAD + PLACES + FIRST
SECOND = packet(short(common=1), ids=(2, 3))
HEAD2 = packet(about(version=2), version=2)
FIRST2 = packet(short(count=1, code=miss(5, 7)), short(common=1), version=2, ids=(0, 2))
BEFORE2 = HEAD2 + FIRST2


def memtrace_beginnings():
    ends = "memtrace trace that ends within its first packet: nothing of it can be read"
    other = "neither a trace of memtrace nor a series of Spacetime"
    silent = "memtrace trace whose first packet does not say what it is of"
    for version in 1, 2, 3:
        good("good-%d.ctf" % version, packet(about(version=version), version=version) +
             packet(short(), promoted(vint(0)), collected(vint(0)), version=version, ids=(0, 1)))
    refused("empty.ctf", b"", "the file is empty: that is what a program leaves that is killed "
            "early under Spacetime")
    refused("magic-alone.ctf", HEAD[:4], ends, 0)
    refused("half-a-magic.ctf", HEAD[:2], ends, 0)
    refused("header-cut.ctf", HEAD[:60], ends, 60)
    refused("info-cut.ctf", HEAD[:-1], ends, len(HEAD) - 1)
    refused("two-letters.ctf", b"hi", other, 0)
    refused("text.ctf", b"not a trace, and longer than the header of a packet: " * 3, other, 0)
    refused("version-0.ctf", packet(about(), version=0),
            "memtrace trace of version 0, written by memtrace before its first release "
            "(early 2020): versions 1 to 3 can be read", 28)
    for version in 4, 65535:
        refused("version-%d.ctf" % version, packet(about(), version=version),
                "memtrace trace of version %d: versions 1 to 3 can be read" % version, 28)
    size = "memtrace trace whose first packet has a size that cannot be"
    refused("first-size-0.ctf", packet(about(), bits=0) + SECOND, size, 4)
    refused("first-size-bits.ctf", packet(about(), bits=8 * len(HEAD) - 1) + SECOND, size, 4)
    refused("no-info.ctf", PLACES + FIRST, silent, 72)
    refused("no-event.ctf", packet() + FIRST, silent, 68)
    refused("info-code.ctf", packet(about(code=1)), silent, 72)
    refused("info-string.ctf", packet(about()[:18]), silent, 81)
    for name, rate in ("0", 0.0), ("nan", float("nan")), ("above-1", 1.5), ("negative", -0.5):
        refused("rate-%s.ctf" % name, packet(about(rate=rate)) + FIRST, silent, len(HEAD))
    for bits in 0, 63, 128:
        refused("word-of-%d-bits.ctf" % bits, packet(about(bits=bits)) + FIRST, silent, len(HEAD))


def memtrace_packets():
    at = len(BEFORE)
    none = "no packet where one should begin"
    header = "a packet whose header cannot be"
    for name, bits in ("0", 0), ("10", 80), ("bits", 8 * len(SECOND) - 3):
        lost("size-%s.ctf" % name, BEFORE + packet(short(), ids=(2, 3), bits=bits) + SECOND,
             none, at)
    lost("size-past-the-file.ctf", BEFORE + packet(short(), ids=(2, 3), bits=2**31) + SECOND,
         "the file ends within this packet", at)
    lost("size-at-most.ctf", BEFORE + packet(short(), ids=(2, 3), bits=2**32 - 8),
         "the file ends within this packet", at)
    lost("cut.ctf", BEFORE + SECOND[:-1], "the file ends within this packet", at)
    lost("cut-header.ctf", BEFORE + SECOND[:5], "the file ends within this packet", at)
    lost("noise-between.ctf", BEFORE + b"noise" + SECOND, none, at)
    lost("noise-at-the-end.ctf", BEFORE + b"noise" * 100, none, at)
    lost("second-magic.ctf", BEFORE + packet(short(), ids=(2, 3), magic=0xC1FC1FC0) + SECOND,
         none, at)
    lost("other-process.ctf", BEFORE + packet(short(), ids=(2, 3), pid=PID + 1) + SECOND,
         "a packet of another process", at)
    lost("other-version.ctf", BEFORE + packet(short(), version=2, ids=(2, 3)) + SECOND, header, at)
    for name, ids in (("backward", (3, 2)), ("at-2-64", (U64 - 1, U64)), ("above-2-63", (0, 1 << 63)),
                      ("too-many", (2, 15)), ("twice", (1, 2)), ("overlapping", (1, 3))):
        lost("ids-%s.ctf" % name, BEFORE + packet(short(), ids=ids) + SECOND, header, at)
    lost("ids-again-2.ctf", BEFORE2 + packet(short(), version=2, ids=(0, 1)), header, len(BEFORE2))
    lost("ids-missing-2.ctf", BEFORE2 + packet(short(), version=2, ids=(9, 10)),
         "objects are missing before this packet", len(BEFORE2))
    good("ids-missing-3.ctf", BEFORE + packet(short(), ids=(10000, 10001), domain=9))
    for name, verifier in (("slot", (6, 0, 7)), ("next", (5, 1, 7)), ("code", (5, 0, 8)),
                           ("no-slot", (16384, 0, 0))):
        lost("verifier-%s.ctf" % name, BEFORE + packet(short(), ids=(2, 3), verifier=verifier),
             "backtraces cannot be trusted: the cache of this packet is another one", at)
    good("verifier.ctf", BEFORE + packet(short(), ids=(2, 3), verifier=(5, 0, 7)))


def bad_event(name, data, before=b"", ids=(2, 3)):
    """What cannot be read in a packet, and what stands in it before."""
    lost("event-%s.ctf" % name, BEFORE + packet(before, data, ids=ids) + packet(short(), ids=(9, 10)),
         "an event that cannot be read: the rest of its packet is left out",
         len(BEFORE) + 68 + len(before))


def memtrace_events():
    for code in 5, 50, 100, 117, 127:
        bad_event("code-%d" % code, event(code) + bytes(8))
    bad_event("second-info", about())
    bad_event("header-cut", event(4)[:3])
    bad_event("codewords-past", short(count=5, code=miss(1, 2) * 2))
    bad_event("code-past", short(count=1, code=miss(1, 2)[:-1]))
    bad_event("predictions-past", short(count=1, code=struct.pack("<H", 2)))
    bad_event("many-codewords-past", long(count=65535, code=bytes(100)))
    bad_event("no-count", short()[:-1])
    for name, number in ("2-64", U64), ("2-63", 1 << 63), ("2-61", 1 << 61):
        bad_event("length-" + name, long(length=number))
        bad_event("samples-" + name, long(samples=number))
    bad_event("samples-0", long(samples=0))
    bad_event("samples-2-32", long(samples=2**32))
    bad_event("source-3", long(source=3))
    bad_event("more-than-ids", short(), before=short())
    bad_event("vint-16-cut", event(4) + b"\xfd\0")
    bad_event("vint-32-cut", event(4) + b"\xfe\0\0\0")
    bad_event("vint-64-cut", event(4) + b"\xff" + bytes(7))
    # Of the 3 ids before, the one 4 before the next one, and that after the last one.
    bad_event("before-id-0", collected(vint(4)), before=short())
    bad_event("id-2-64", promoted(vint(U64 - (1 << 40))), before=short())
    bad_event("id-behind-all", collected(b"\xfe" + struct.pack("<i", -100)), before=short())
    # A prefix that nobody has is that of a backtrace that was cut short.
    for name, common in ("2-64", vint(U64)), ("2-63", vint(1 << 63)), ("2", vint(2)):
        good("common-%s.ctf" % name, BEFORE + packet(long(common=common), ids=(2, 3)))
    nobody = "an object that was never allocated, or collected before"
    early = packet(collected(b"\xfe" + struct.pack("<i", -1)), short(), ids=(2, 3))
    for name, data in (("early", BEFORE + early),
                       ("twice", BEFORE + packet(collected(vint(0)), collected(vint(0)), ids=(2, 2))),
                       ("promoted-late", BEFORE + packet(collected(vint(0)), promoted(vint(0)),
                                                         ids=(2, 2)))):
        lost("nobody-%s.ctf" % name, data, nobody)
        lost("nobody-%s.ctf" % name, data, nobody, command="trace sites --on minor")


def memtrace_clocks():
    back = "the clock steps back"
    at = len(BEFORE) + 68
    lost("end-before-begin.ctf", BEFORE + packet(short(1), begin=START + 1, end=START, ids=(2, 3)),
         back, at)
    lost("event-behind-end.ctf", BEFORE + packet(short(5), end=START + 4, ids=(2, 3)), back, at)
    lost("event-back.ctf", BEFORE + packet(short(9), short(8), end=START + 9, ids=(2, 4)), back,
         at + len(short()))
    lost("begin-before-start.ctf",
         BEFORE + packet(short(-9), begin=START - 9, end=START - 9, ids=(2, 3)), back, at)
    good("domains-are-not-in-order.ctf", HEAD + packet(
        short(9), begin=START + 9, end=START + 9, ids=(0, 1)) + packet(
            short(8), begin=START + 8, end=START + 8, ids=(10000, 10001), domain=1))


def memtrace_places():
    spoilt = "columns of long lines spoilt names of files (memtrace before v0.2.4)"
    at = len(HEAD) + 68
    # 0xFFF columns: of the file's code two bits are set that nobody wrote.
    lost("spilled.ctf", HEAD + packet(location(7, record(3, 255, 1023, 31, 31, b"f"))) + FIRST,
         spoilt, at + 4)
    known = location(7, record(3, 1, 9, 31, 31, b"a.ml", b"f"))
    lost("spilled-known.ctf",
         HEAD + packet(known, location(8, record(3, 255, 1023, 3, 0))) + FIRST, spoilt,
         at + len(known) + 4)
    cannot = "an event that cannot be read: the rest of its packet is left out"
    for name, data in (("no-count", location(8)[:-1]),
                       ("cut", location(8, record(3, 1, 9, 0, 0))[:-1]),
                       ("name-without-end", location(8, record(3, 1, 9, 31, 31) + b"no end")),
                       ("lost-again", location(8, *[record(3, 255, 1023, 31, 0)] * 255))):
        lost("places-%s.ctf" % name, HEAD + packet(known, data) + FIRST, cannot, at + len(known))
    # Two ways for each of 255 records: not all of them are tried.
    lost("places-many-ways.ctf",
         HEAD + packet(known, location(8, *[record(3, 255, 1023, 31, 0, b"ab")] * 255), b"x") +
         FIRST, cannot, at + len(known))


def memtrace_limits():
    """A backtrace that grows to more than 2^26 frames, by predictions of one that is known."""
    deeper = struct.pack("<HB", 2, 255)
    events, depth = [], 0
    while depth <= 1 << 26:
        events.append(long(common=vint(depth), count=65535, code=deeper * 65535))
        depth += 65535 * 256
    events.append(long(common=vint(depth)))
    data = HEAD + b"".join(packet(e, ids=(i, i + 1)) for i, e in enumerate(events))
    packed = subprocess.run(["zstd", "-19", "-q", "-c"], input=data, check=True,
                            stdout=subprocess.PIPE).stdout
    refused("deepest.ctf.zst", packed, "a backtrace of more than 67108864 frames", status=5)


def many_calls():
    """
    No case, but a file of 0.2 MB with 4 million calls, all different: 254 known functions that one
    codeword predicts are called each time by two others.
    """
    known, others = range(1, 255), range(255, 255 + 128)
    places = packet(*(location(c, record(c, 1, 9, 31, 31, b"a.ml", b"f%d" % c))
                      for c in (*known, *others)))
    # Slot i has code i, and predicts the next one.
    learnt = packet(*(long(count=len(some), code=b"".join(miss(c, c) for c in some))
                      for some in (known, others)), ids=(0, 2))
    events = [short(count=3, code=struct.pack("<HHHB", a << 2, b << 2, 1 << 2 | 2, 253))
              for a in others for b in others if a != b]
    return HEAD + places + learnt + packet(*events, ids=(2, 2 + len(events)))


# Series of Spacetime: values of Marshal


class Raw:
    """Bytes that stand in a value, and the objects and words that they are."""

    def __init__(self, data, objects=0, words=0):
        self.data, self.objects, self.words = data, objects, words


class Int64:
    def __init__(self, number, code=0x19):
        self.number, self.code = number, code


def encode(value):
    """Raw of an int, float, name (bytes), Int64, or block (a tuple that begins with its tag)."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, int):
        if 0 <= value < 64:
            return Raw(bytes([0x40 | value]))
        return Raw(b"\3" + struct.pack(">q", value - (1 << 64) if value >> 63 > 0 else value))
    if isinstance(value, float):
        return Raw(b"\x0c" + struct.pack("<d", value), 1, 2)
    if isinstance(value, bytes):
        return Raw(b"\x0a" + struct.pack(">I", len(value)) + value, 1, 2 + len(value) // 8)
    if isinstance(value, Int64):
        return Raw(bytes([value.code]) + b"_j\0" + struct.pack(">Q", value.number), 1, 3)
    tag, fields = value[0], [encode(v) for v in value[1:]]
    if not fields:
        return Raw(bytes([0x80 | tag]))
    return Raw(b"\x08" + struct.pack(">I", len(fields) << 10 | tag) + b"".join(f.data for f in fields),
               1 + sum(f.objects for f in fields),
               1 + len(fields) + sum(f.words for f in fields))


def marshal(value, objects=None, words=None, size=None, magic=0x8495A6BE):
    raw = encode(value)
    return struct.pack(">IIIII", magic, len(raw.data) if size is None else size,
                       raw.objects if objects is None else objects, raw.words,
                       raw.words if words is None else words) + raw.data


def rows(*values, end=0):
    """A list."""
    for value in reversed(values):
        end = (0, value, end)
    return end


def mark(version=0, features=1):
    return b"\x84\x95\xa6\xbe" + struct.pack(">IIII", 9, 0, 0, 0) + b"\3" + \
        struct.pack(">Q", features << 48 | version << 32 | 0xACE00ACE)


def snapshot(time=1.0, gc=(0,) + (5,) * 9, entries=(0, 1, 2, 6), scanned=6, annotated=6,
             totals=(0, 1, 6, 0)):
    return (0, time, gc, entries, scanned, annotated, totals)


def point(annotation, index):
    return (annotation << 38 | index + 1 << 10 | 0x3F9) >> 1


FUNCTION, CALLEE, SITE, CLOSURE, ALLOCATION = 0x401000, 0x402000, 0x401010, 0x401020, 0x401030
ITSELF = Raw(b"\4\1")
PARTS = ((0, Int64(SITE), Int64(CALLEE)), (1, Int64(CLOSURE)), (2, Int64(ALLOCATION)))
FRAMES = rows((0, Int64(ALLOCATION), rows((0, 0, b"a.ml", 3, 1, 9))))
SHAPES = rows((0, Int64(FUNCTION), rows(*PARTS)))


def node(direct=0, calls=0, indirect=0, annotation=None, words=6, link=ITSELF, more=(),
         function=FUNCTION):
    return (0, function + 1 >> 1, link, direct, calls, indirect,
            point(1, 5) if annotation is None else annotation, words, 0) + tuple(more)


def c_node(address=0x5000, callee=0, count=0, link=0, after=0, kind=3):
    return (1, (address << 2 | kind) >> 1, callee, count, link, after)


ZERO, ONE, TWO = marshal(0), marshal(1), marshal(2)
SNAPSHOT = ZERO + marshal(snapshot())
EVENT = TWO + marshal(b"event") + marshal(2.0)
MOMENTS = mark() + SNAPSHOT + EVENT


def ending(frames=FRAMES, shapes=SHAPES, threads=1, trie=None, finalisers=0, close=3.0):
    return ONE + marshal(close) + marshal(frames) + marshal(shapes) + marshal(threads) + \
        marshal(node() if trie is None else trie) + marshal(finalisers)


SERIES = MOMENTS + ending()
NO_END = "the file ends without the tables and call tries that a program writes when it ends by " \
    "itself"
CUT = "the file ends within this part"
UNREADABLE = "a value that cannot be read"


def series_cuts():
    good("good.series", SERIES)
    good("good-no-snapshot.series", mark() + ending())
    refused("good.series", SERIES, "this is answered for traces of memtrace alone, and the file is a "
            "series of Spacetime", status=2, command="trace hotspots")
    good("good-4.04.series", mark(features=0) + SNAPSHOT + ending(
        trie=(0, FUNCTION + 1 >> 1, ITSELF, 0, 0, point(1, 4), 6, 0)))
    lost("cut-behind-mark.series", mark(), NO_END, len(mark()))
    lost("cut-behind-moments.series", MOMENTS, NO_END, len(MOMENTS))
    # With --strict no question gets so far.
    for what, command in ("calls", "trace tree"), ("functions", "trace top --exe tests/run"):
        add("cut-behind-moments.series", MOMENTS, 3, "the series has no %s: %s" % (what, NO_END),
            len(MOMENTS), command)
        add("cut-behind-moments.series", MOMENTS, 3, NO_END, len(MOMENTS), command + " --strict")
    for verb in "dump", "sites":
        lost("cut-behind-moments.series", MOMENTS, NO_END, len(MOMENTS), command="trace " + verb)
    for name, at in (("next", len(mark()) + 5), ("snapshot-head", len(mark() + ZERO) + 7),
                     ("snapshot", len(mark() + SNAPSHOT) - 1)):
        lost("cut-in-%s.series" % name, SERIES[:at], CUT, len(mark()),)
    for name, at in ("event-name", len(TWO) + 24), ("event-time", len(EVENT) - 1):
        lost("cut-in-%s.series" % name, SERIES[:len(mark() + SNAPSHOT) + at], CUT,
             len(mark() + SNAPSHOT))
    parts = [ONE, marshal(3.0), marshal(FRAMES), marshal(SHAPES), ONE, marshal(node()), ZERO]
    at = len(MOMENTS)
    for name, part in zip(("close", "frames", "shapes", "threads", "trie", "finalisers"), parts):
        at += len(part)
        lost("cut-before-%s.series" % name, SERIES[:at], CUT, len(MOMENTS))
        lost("cut-in-%s.series" % name, SERIES[:at + 20], CUT, len(MOMENTS))
    lost("behind-the-end.series", SERIES + b"more", "bytes behind the end of the series", len(SERIES))


def bad_part(name, data, why, offset, at=len(mark())):
    """What is wrong with a part that begins at 'at'."""
    lost(name + ".series", data, UNREADABLE, at, why=(why, offset))


def series_parts():
    other = "series of Spacetime of version %d with features %d: known are version 0 with " \
        "features 0 and 1 (OCaml 4.04 to 4.11)"
    for version, features in (1, 0), (0, 2), (65535, 0x7FFF):
        refused("version-%d-features-%d.series" % (version, features), mark(version, features) +
                SNAPSHOT, other % (version, features), 20)
    objects = mark()[:11] + b"\1" + mark()[12:]
    refused("mark-objects.series", objects, "the header says 1 objects, 0 are there", 8)
    at = len(mark())
    head = 20
    goes_on = "a series goes on with 0, 1 or 2, not with %d"
    bad_part("next-3", mark() + marshal(3) + SERIES[at:], goes_on % 3, at)
    bad_part("next-below-0", mark() + marshal(-1) + SERIES[at:], goes_on % -1, at)
    number, time = "no number where one is expected", "no time where one is expected"
    bad_part("next-is-block", mark() + marshal((0, 1)) + SERIES[at:], number, at)
    bad_part("next-magic", mark() + b"\0" + SERIES[at:], "0x008495a6 is not the magic of a "
             "marshalled value", at)
    bad_part("no-time", mark() + ZERO + marshal((0, 1, 2)) + EVENT, "a snapshot without a time",
             at + len(ZERO))
    bad_part("snapshot-is-int", mark() + ZERO + marshal(7) + EVENT, "a snapshot without a time",
             at + len(ZERO))
    bad_part("event-without-name", mark() + TWO + marshal(7) + SNAPSHOT,
             "no name where an event has one", at + len(TWO))
    bad_part("event-without-time", mark() + TWO + marshal(b"event") + marshal(7) + SNAPSHOT, time,
             at + len(TWO + marshal(b"event")))
    bad_part("close-is-int", mark() + ONE + marshal(3) + SERIES, time, at + len(ONE))
    tables = ONE + marshal(3.0) + marshal(FRAMES) + marshal(SHAPES)
    bad_part("threads-is-block", mark() + tables + marshal((0, 1)) + marshal(0) * 2, number,
             at + len(tables))
    for count in -1, 1 << 40:
        bad_part("threads-%s" % ("below-0" if count < 0 else "2-40"),
                 mark() + tables + marshal(count) + marshal(0) * 2,
                 "tries of %d threads" % count, at + len(tables))
    good("threads-2.series", mark() + tables + marshal(2) + marshal(node()) + ZERO * 3)
    good("threads-0.series", mark() + tables + marshal(0))
    bad_part("huge-size", mark() + TWO + marshal(b"event", objects=2**32 - 1) + marshal(1.0),
             "%d objects in 10 bytes" % (2**32 - 1), at + len(TWO) + 8)
    bad_part("more-objects-than-bytes", mark() + TWO + marshal(b"event", objects=11) + marshal(1.0),
             "11 objects in 10 bytes", at + len(TWO) + 8)
    bad_part("string-past", mark() + TWO + marshal(Raw(b"\x0a" + struct.pack(">I", 2**32 - 1), 1)) +
             EVENT, "marshalled value ends inside an item", at + len(TWO) + head + 5)
    lost("size-2-32.series", mark() + ZERO + marshal(snapshot(), size=2**32 - 1) + EVENT, CUT, at)


def bad_snapshot(name, value, why=None, offset=0, **claims):
    at = len(mark() + ZERO)
    data = value if isinstance(value, bytes) else marshal(value, **claims)
    lost("snapshot-%s.series" % name, mark() + ZERO + data + EVENT + ending(),
         "a snapshot that cannot be read", at,
         why=(why or "a snapshot that is not one of Spacetime", at + offset))


def series_snapshots():
    wrong = "a snapshot that is not one of Spacetime"
    bad_snapshot("of-2-fields", (0, 1.0, 2))
    bad_snapshot("of-7-fields", snapshot() + (0,))
    bad_snapshot("gc-is-int", snapshot(gc=0))
    bad_snapshot("gc-of-8", snapshot(gc=(0,) + (5,) * 8))
    bad_snapshot("gc-of-names", snapshot(gc=(0,) + (b"x",) * 9))
    bad_snapshot("scanned-is-name", snapshot(scanned=b"many"))
    bad_snapshot("annotated-is-float", snapshot(annotated=1.0))
    bad_snapshot("entries-of-4", snapshot(entries=(0, 1, 2, 3, 4)))
    bad_snapshot("entries-of-tag-1", snapshot(entries=(1, 1, 2, 3)))
    bad_snapshot("entries-are-int", snapshot(entries=7))
    bad_snapshot("entry-below-0", snapshot(entries=(0, -1, 2, 3)))
    bad_snapshot("entry-is-float", snapshot(entries=(0, 1, 2, 3.0)))
    bad_snapshot("entry-2-40", snapshot(entries=(0, 1 << 40, 2, 3)))
    # An annotation is the number of a point, each of which takes some bytes of the file.
    bad_snapshot("entry-beyond-the-file", snapshot(entries=(0, 1 << 25, 2, 3)))
    bad_snapshot("totals-are-name", snapshot(totals=b"list"))
    bad_snapshot("totals-of-2", snapshot(totals=(0, 1, 6)))
    bad_snapshot("totals-of-names", snapshot(totals=(0, 1, b"x", 0)))
    bad_snapshot("totals-beyond-the-file", snapshot(totals=(0, 1 << 25, 6, 0)))
    # The third field of the list is the list.
    bad_snapshot("totals-in-a-ring", snapshot(totals=(0, 1, 6, ITSELF)))
    back = "a reference %d objects back where there are %d"
    bad_snapshot("shares-what-comes", snapshot(gc=Raw(b"\4\7")), back % (7, 2), 20 + 5 + 9)
    bad_snapshot("shares-0", snapshot(gc=Raw(b"\4\0")), back % (0, 2), 20 + 5 + 9)
    bad_snapshot("shares-2-64", snapshot(gc=Raw(b"\x14" + b"\xff" * 8)), back % (U64, 2),
                 20 + 5 + 9)
    at = 20 + 5 + 9
    begun = b"\x08" + struct.pack(">I", 6 << 10) + encode(1.0).data
    fields = 2**33 - 1  # what is left of 2^54 - 1
    bad_snapshot("fields-2-54", marshal(Raw(begun + b"\x13" + b"\xff" * 6 + b"\xfc\0", 3, 99)),
                 "a block of %d fields, and 4 others to come, in the 0 bytes left" % fields, at)
    bad_snapshot("unknown-code", snapshot(gc=Raw(b"\x17")), "code 0x17 is not one of a "
                 "marshalled value", at)
    bad_snapshot("custom", snapshot(gc=Raw(b"\x12_z\0" + bytes(8), 1, 3)),
                 'unknown kind of custom block "_z"', at + 1)
    bad_snapshot("infix-to-nowhere", snapshot(gc=Raw(b"\x11\xff\xff\xff\xff\4\7")), back % (7, 2),
                 at + 5)
    bad_snapshot("infix-cut", marshal(Raw(begun + b"\x11\0\0\0\x08", 2, 99)),
                 "marshalled value ends inside an item", at + 5)
    bad_snapshot("larger-than-said", snapshot(), "the value is larger than its header says", at,
                 words=12)
    bad_snapshot("fewer-objects", snapshot(), "more than the 4 objects that the header of the "
                 "marshalled value says", len(marshal(snapshot())) - 8,
                 objects=4)
    bad_snapshot("more-objects", snapshot(), "the header says 6 objects, 5 are there", 8, objects=6)
    bad_snapshot("bytes-left", marshal(Raw(encode(snapshot()).data + b"@", 5, 99)),
                 "1 bytes are left over behind a marshalled value", len(marshal(snapshot())))


def bad_table(name, what="frames", **tables):
    at = len(MOMENTS + ONE + marshal(3.0))
    if what == "shapes":
        at += len(marshal(tables.get("frames", FRAMES)))
    refused("%s-%s.series" % (what, name), MOMENTS + ending(**tables),
            "a table of %s that is not one of Spacetime" % what, at)


def series_tables():
    pc = Int64(ALLOCATION)
    for name, frames in (
            ("are-name", b"frames"), ("of-3", (0, 1, 2, 3)), ("of-tag-1", (1, 1, 0)),
            ("of-ints", rows(1, 2)), ("row-of-1", rows((0, pc))), ("pc-is-int", rows((0, 1, 0))),
            ("pc-is-name", rows((0, b"pc", 0))), ("slots-are-name", rows((0, pc, b"x"))),
            ("slots-of-ints", rows((0, pc, rows(1)))),
            ("location-of-2", rows((0, pc, rows((0, 0, b"a.ml"))))),
            ("file-is-int", rows((0, pc, rows((0, 0, 1, 2, 3, 4))))),
            ("line-is-name", rows((0, pc, rows((0, 0, b"a.ml", b"x", 3, 4))))),
            ("raise-is-name", rows((0, pc, rows((1, b"x"))))),
            ("in-a-ring", (0, (0, pc, 0), Raw(b"\4\3"))),
            ("slots-in-a-ring", rows((0, pc, (0, (1, 0), Raw(b"\4\2")))))):
        bad_table(name, frames=frames)
    good("frames-none.series", mark() + ending(frames=0))
    for name, shapes in (
            ("are-name", b"shapes"), ("of-ints", rows(1)), ("key-is-int", rows((0, 1, 0))),
            ("parts-are-name", rows((0, pc, b"x"))), ("part-is-int", rows((0, pc, rows(1)))),
            ("part-of-tag-3", rows((0, pc, rows((3, pc))))),
            ("direct-of-1", rows((0, pc, rows((0, pc))))),
            ("indirect-of-2", rows((0, pc, rows((1, pc, pc))))),
            ("site-is-int", rows((0, pc, rows((2, 1))))),
            ("callee-is-int", rows((0, pc, rows((0, pc, 1))))),
            ("in-a-ring", (0, (0, pc, 0), Raw(b"\4\3"))),
            ("parts-in-a-ring", rows((0, pc, (0, (2, pc), Raw(b"\4\3")))))):
        bad_table(name, "shapes", shapes=shapes)
    at = len(MOMENTS + ONE + marshal(3.0))
    refused("frames-unreadable.series", MOMENTS + ending(frames=Raw(b"\x17")),
            "code 0x17 is not one of a marshalled value", at + 20)


def bad_trie(name, what, moments=MOMENTS, **tables):
    """The trie is the value before the last one, which is an int."""
    data = moments + ending(**tables)
    trie = node() if "trie" not in tables else tables["trie"]
    lost("trie-%s.series" % name, data, what, len(data) - len(ZERO) - len(marshal(trie)))


def series_tries():
    nowhere, unknown = "a node of calls that leads nowhere", "a node of calls whose fields are not known"
    bad_trie("is-name", nowhere, trie=b"trie")
    bad_trie("is-float", nowhere, trie=1.0)
    bad_trie("is-int64", nowhere, trie=Int64(1))
    bad_trie("of-tag-2", nowhere, trie=(2, 0, 0))
    bad_trie("of-1-field", nowhere, trie=(0, 0))
    bad_trie("link-is-int", nowhere, trie=node(link=0))
    bad_trie("link-is-name", nowhere, trie=node(link=b"x"))
    bad_trie("callee-is-name", nowhere, trie=node(direct=b"x"))
    bad_trie("callee-is-short", nowhere, trie=node(direct=(1, 0, 0, 0, 0)))
    bad_trie("indirect-is-node", nowhere, trie=node(indirect=ITSELF))
    bad_trie("indirect-is-name", nowhere, trie=node(indirect=b"x"))
    bad_trie("c-list-in-a-ring", nowhere, trie=node(indirect=c_node(after=Raw(b"\4\1"))))
    bad_trie("c-list-ends-in-name", nowhere, trie=node(indirect=c_node(after=b"x")))
    bad_trie("c-callee-is-name", nowhere, trie=node(indirect=c_node(callee=b"x")))
    bad_trie("more-fields", unknown, trie=node(more=(1, 2, 3)))
    bad_trie("fewer-fields", unknown, trie=(0, FUNCTION + 1 >> 1, ITSELF, 0))
    # What leads back is known by its first visit.
    for name, trie in (("callee-is-int", node(direct=7)), ("callee-is-itself", node(direct=ITSELF)),
                       ("c-callee-is-int", node(indirect=c_node(callee=9))),
                       ("without-shape", node(function=CALLEE)),
                       ("long-links", node(link=node(link=Raw(b"\4\2")))),
                       # A ring of two that does not come back to where it began.
                       ("link-to-the-second", node(link=node())),
                       ("infix", node(more=())[:-1] + (Raw(b"\x11\0\0\0\x38\4\1"),))):
        good("good-trie-%s.series" % name, mark() + ending(trie=trie))
    data = MOMENTS + ending(trie=Raw(b"\4\1"))
    at = len(MOMENTS + ending()) - len(ZERO) - len(marshal(node()))
    lost("trie-unreadable.series", data, "a trie of calls that cannot be read", at,
         why=("a reference 1 objects back where there are 0", at + 20))


def make_cases():
    memtrace_beginnings()
    memtrace_packets()
    memtrace_events()
    memtrace_clocks()
    memtrace_places()
    memtrace_limits()
    series_cuts()
    series_parts()
    series_snapshots()
    series_tables()
    series_tries()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    make_cases()
    files = {}
    for name, data, *_ in cases:
        if files.setdefault(name, data) != data:
            sys.exit("two files are called " + name)
    os.makedirs(os.path.join(folder, "traces"), exist_ok=True)
    with open(os.path.join(folder, "traces.tsv"), "w") as table:
        table.write("# file\tcommand\texit\tmessage\n")
        for name, _, command, status, message in cases:
            table.write("\t".join((name, command, str(status), message)) + "\n")
    for name, data in files.items():
        with open(os.path.join(folder, "traces", name), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main()
