#!/usr/bin/env python3
"""hostile_names.py HEAPGRAPH WORK: names that break out of careless outputs, read back.

Two profiles, cores and dumps are made that differ in their names alone: one has plain words, the other in
their places bytes that mean something to CSV, JSON, XML, DOT, shells or terminals.  What heapgraph writes of
both is read by Python's csv, json and xml.etree and by Graphviz, and must be the same but for these names,
each of them as docs/outputs.md says.  Prints the lines of tests/cli/lib.sh."""
import codecs
import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree

HG, WORK = sys.argv[1:3]
FIXTURES = "tests/fixtures"
TOKEN = re.compile("Zq(\\d\\d)z")
csv.field_size_limit(1 << 30)

CONTROLS = bytes(range(1, 32)) + b"\x7f"
SETS = {
    "controls and separators": [CONTROLS, b"a\r\nb,\"c\"\";\t'd'", b"\\n\\N\\\"]}\\", b",", b"\n", b'"'],
    "terminals": [b"\x1b]0;x\x07\x1b[31m\x9b2J", "\u009b31m\u202egnp.\u2066x\u200b\ufeff\U000e0041".encode(),
                  b"\r\x1b[2Kok", b"\x08\x08\x08", "\u2028\u2029\u00ad".encode(), b"\x1bc"],
    "markup": [b"<b>&amp;]]>", b"<![CDATA[<!--", b"&#0;&lt;&bogus;", b"\"/><x y='", b"--><?x ?>", b"]]>\xef\xbf\xbe\xef\xbf\xbf"],
    "no UTF-8": [b"\xff\xfe\xc3", b"\xc0\xaf\xe0\x80\xaf", b"\xed\xa0\x80\xed\xb0\x80", b"\xf4\x90\x80\x80\xf8",
                 b"\xe2\x82", b"\x80"],
    "paths": [b"a / b", b'x" / "y', b'"quoted" and', b"ends /", b"/ begins", b" / "],
    "formulas and options": [b"=1+cmd|' /C'!A0", b"-rf", b"--help", b"@x", b"+1", b"%s%n%20"],
    "shells": [b"$(touch x)`id`", b"'; exit 9; '", b"a b*?[x]", b"!!&|>", b"\\'", b"^.*$(){}"],
    "long ones": [b"L" * 3000, b"\xe6\xbc\xa2" * 900, b"x / " * 500 + b"x", b"<" * 2000, b"\x1b" * 900,
                  b'"' * 3000],
}


def ok(name, problem=None):
    print(f"not ok {name}: {str(problem)[:300]}" if problem else f"ok {name}")


codecs.register_error("each", lambda e: ("\ufffd" * (e.end - e.start), e.end))


def raw(data):
    return data.decode("latin-1")


def as_json(data):
    """A byte that is part of no character becomes U+FFFD."""
    return data.decode("utf-8", "each")


def as_xml(data):
    """So do characters that XML has not."""
    return "".join(c if c in "\t\n\r" or " " <= c < "\ufffe" or c > "\uffff" else "\ufffd" for c in as_json(data))


DECEIVES = [(0, 0x1f), (0x7f, 0x9f), (0xad, 0xad), (0x200b, 0x200f), (0x2028, 0x202e), (0x2060, 0x206f),
            (0xfeff, 0xfeff), (0xfff9, 0xfffb), (0xfffe, 0xffff), (0xe0000, 0xe0fff)]


def as_text(data):
    """What a terminal would obey or hide is shown as \\xHH of its bytes."""
    out = ""
    for c in data.decode("utf-8", "surrogateescape"):
        code = ord(c)
        if 0xdc80 <= code <= 0xdcff:
            out += f"\\x{code - 0xdc00:02X}"
        elif any(a <= code <= b for a, b in DECEIVES):
            out += "".join(f"\\x{byte:02X}" for byte in c.encode())
        else:
            out += c
    return out


class Names:
    def __init__(self, hostile):
        self.hostile = hostile

    def bytes_of(self, text):
        return TOKEN.sub(lambda m: raw(self.hostile[int(m[1])]), text)

    def plain(self, text, spell):
        return spell(self.bytes_of(text).encode("latin-1")) if TOKEN.search(text) else text

    def path(self, text, spell):
        """docs/outputs.md, Paths."""
        names = [self.bytes_of(name) for name in text.split(" / ")]
        names = ['"' + n.replace('"', '""') + '"' if " / " in n or n[:1] == '"' or n[-2:] == " /" else n
                 for n in names]
        return spell(" / ".join(names).encode("latin-1"))


def as_exact(data):
    """docs/outputs.md, Baselines."""
    text = data.decode("utf-8", "surrogateescape").replace("\\", "\\\\")
    return "".join(f"\\x{ord(c) - 0xdc00:02X}" if 0xdc80 <= ord(c) <= 0xdcff else c for c in text)


def expect_baseline(document, names):
    """What of a trend's JSON is exact."""
    document["program"] = names.plain(document["program"], as_exact).rsplit("/", 1)[-1]
    for row in document["names"]:
        for key in "kind", "name", "made_at", "defined_at":
            row[key] = names.plain(row[key], as_exact)
    return {key: document.pop(key) for key in ("program", "names")}


PATH_KEYS = {"path", "from", "to"}


def expect(value, names, spell, key="", verb=""):
    if isinstance(value, dict):
        return {k: expect(v, names, spell, k, verb) for k, v in value.items() if k != "command"}
    if isinstance(value, list):
        return [expect(v, names, spell, key, verb) for v in value]
    if isinstance(value, str):
        is_path = key == "path" or (key in PATH_KEYS and verb == "tree")
        return names.path(value, spell) if is_path else names.plain(value, spell)
    return value


def leave_out(value):
    """Commands are for shells; rows that are equal but for their names come in the order of these."""
    if isinstance(value, dict):
        return {k: leave_out(v) for k, v in value.items() if k not in ("command", "file_bytes", "row", "parent")}
    if isinstance(value, list):
        return sorted((leave_out(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    return value


def run(arguments, **more):
    return subprocess.run([HG] + [os.fsencode(a) for a in arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, cwd=WORK, **more)


def differ(a, b):
    """Where two values begin to differ."""
    if type(a) is type(b) and isinstance(a, dict):
        for k in sorted(set(a) | set(b)):
            if a.get(k) != b.get(k):
                return f"{k}: {differ(a.get(k), b.get(k))}"
    if type(a) is type(b) and isinstance(a, list):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return f"[{i}]: {differ(x, y)}"
        return f"{len(a)} and {len(b)} elements"
    if isinstance(a, str) and isinstance(b, str) and len(a) + len(b) > 200:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return f"at {at} of {len(a)}, {len(b)}: wanted {a[at:at + 40]!r} got {b[at:at + 40]!r}"
    return f"wanted {a!r} got {b!r}"


def check_csv(name, plain, hostile, names):
    def rows(out):
        return list(csv.reader(io.StringIO(raw(out), newline=""), strict=True))
    before, after = rows(plain), rows(hostile)
    keys = before[0]
    wanted = [[names.path(cell, raw) if key == "path" else names.plain(cell, raw)
               for key, cell in zip(keys, row)] for row in before]
    if any(len(row) != len(keys) for row in after):
        return ok(name, "rows of other lengths")
    if sorted(wanted) != sorted(after):
        return ok(name, differ(sorted(wanted), sorted(after)))
    ok(name)


def check_json(name, plain, hostile, names, verb):
    after = leave_out(json.loads(hostile.decode("utf-8", "strict")))
    before = json.loads(plain)
    exact = expect_baseline(before, names) if verb == "trend" else {}
    wanted = leave_out({**expect(before, names, as_json, "", verb), **exact})
    ok(name, None if wanted == after else differ(wanted, after))


def harmless(out):
    """No character that a terminal obeys, and no byte that is no UTF-8."""
    try:
        text = out.decode("utf-8", "strict")
    except UnicodeDecodeError as e:
        return str(e)
    for c in text:
        if c != "\n" and any(a <= ord(c) <= b for a, b in DECEIVES):
            at = text.index(c)
            return f"{c!r} in {text[max(0, at - 30):at + 30]!r}"
    return None


def on_terminal(arguments):
    done = subprocess.run([sys.executable, os.path.abspath("tests/cli/terminal.py"), "100", HG] +
                          [os.fsencode(a) for a in arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, cwd=WORK,
                          env=dict(os.environ, TERM="xterm", NO_COLOR="1"))
    return done.stdout


def check_dot(name, plain, hostile, names):
    """Nodes, edges and their labels as Graphviz reads them; long labels are cut and say so."""
    def graph(out):
        done = subprocess.run(["dot", "-Tdot_json"], input=out, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode or done.stderr:
            raise ValueError(done.stderr.decode("utf-8", "replace"))
        return json.loads(done.stdout.decode("utf-8", "strict"))
    try:
        before, after = graph(plain), graph(hostile)
    except ValueError as e:
        return ok(name, e)
    for part in "objects", "edges":
        if len(before.get(part, [])) != len(after.get(part, [])):
            return ok(name, f"{len(before.get(part, []))} {part} and {len(after.get(part, []))}")
    ok(name, harmless(json.dumps(after, ensure_ascii=False).encode()))


def check_tooltips(name, plain, hostile, names):
    """Tooltips of SVG have the whole path, by the rule of text."""
    def titles(out):
        space = "{http://www.w3.org/1999/xlink}title"
        return sorted(a.get(space) for a in xml.etree.ElementTree.fromstring(out).iter() if a.get(space))
    got = titles(hostile)
    wanted = sorted(names.path(t, as_text) for t in titles(plain))
    # Of long ones the middle is missing.
    ends = [t.split("...", 1) for t in got]
    for t in wanted:
        match = next((e for e in ends if t.startswith(e[0]) and t.endswith(e[-1]) and (len(e) > 1 or t == e[0])), None)
        if match is None:
            return ok(name, f"{t[:200]!r} is missing")
        ends.remove(match)
    return ok(name, f"{ends[0]!r} is left" if ends else None)


def check_chart(name, plain, hostile, spell):
    """The strings of a chart, by the rule of text; of long ones the middle is missing.  Newer Graphviz has blanks
    behind those with backslashes (report/outputs/xdot.c)."""
    def strings(out):
        return [e.text.rstrip(" \u00a0") for e in xml.etree.ElementTree.fromstring(out).iter("{http://www.w3.org/2000/svg}text")]
    wanted = sorted(spell(t, as_text) for t in strings(plain))
    got = sorted(strings(hostile))
    if not any(TOKEN.search(t) for t in strings(plain)):
        return ok(name, "no name of those stands in it")
    if len(wanted) != len(got):
        return ok(name, f"{len(wanted)} and {len(got)} strings")
    for text in wanted:
        found = next((g for g in got if g == text), None) or next(
            (g for g in got if "..." in g and any(text.startswith(g[:i]) and text.endswith(g[i + 3:])
                                                  for i in range(len(g)) if g[i:i + 3] == "...")), None)
        if found is None:
            return ok(name, f"{text[:200]!r} is missing")
        got.remove(found)
    ok(name)


def zstd(path):
    return subprocess.run(["zstd", "-dqc", path], stdout=subprocess.PIPE, check=True).stdout


def write(path, data):
    with open(os.path.join(os.fsencode(WORK), os.fsencode(path)), "wb") as f:
        f.write(data)


def escape(name):
    return b"".join(b"%%%02x" % c for c in name) or b"%"


def make_core(folder, version, words):
    """A core, and a profile in which names of the program are these words."""
    os.makedirs(os.path.join(WORK, folder), exist_ok=True)
    data = zstd(f"{FIXTURES}/cores/tiny-{version}.prof.zst")
    w = [escape(word) for word in words]
    data = data.replace(b" Tiny.item ", b" " + w[0] + b" ").replace(b" next:", b" " + w[1] + b":")
    data = data.replace(b" table:", b" " + w[2] + b":").replace(b" handlers:", b" " + w[3] + b":")
    data = re.sub(rb"(?m)^(f \d+ )tiny\.ml ", lambda m: m[1] + w[4] + b" ", data)
    data = data.replace(b" Tiny.Names ", b" " + w[5] + b" ")
    write(f"{folder}/exe.prof", data)


def make_dump(folder, words):
    """Three dumps of the cache, whose source, in its profile, and program have these names."""
    os.makedirs(os.path.join(WORK, folder), exist_ok=True)
    profile = open(f"{FIXTURES}/v01/cache-dump/cache.prof", "rb").read()
    assert profile.count(b"cache.ml") >= 1
    write(f"{folder}/x.prof", profile.replace(b"cache.ml", words[0]))
    for number in 0, 2, 5:
        path = f"{FIXTURES}/v01/cache-dump/heap.dump.8975.{number}"
        dump = zstd(path + ".zst") if number else open(path, "rb").read()
        length = int.from_bytes(dump[1:9], "little")
        write(f"{folder}/heap.dump.8975.{number}",
              dump[:1] + len(words[1]).to_bytes(8, "little") + words[1] + dump[9 + length:])


# Of the names and command lines one in so many; ONLY, below, is a pattern of sets.
EVERY = int(os.environ.get("EVERY", "7"))
turn = 0


def compare(label, verb, arguments, folders, names, formats):
    """One command line over both; without THOROUGH each with some of the names only."""
    global turn
    turn += 1
    if turn % EVERY and not os.environ.get("THOROUGH") and label[:5] != "paths":
        return

    def both(extra):
        return [run(verb.split() + extra + [a.replace("@", f) for a in arguments]) for f in folders]
    for form in formats:
        title = f"{label}: {verb} {form}"
        if form in ("csv", "json", "text"):
            plain, hostile = both(["--format", form])
        elif form == "dot":
            plain, hostile = both([])
        else:
            continue
        if plain.returncode not in (0, 1) or hostile.returncode != plain.returncode:
            ok(title, f"exit {plain.returncode} and {hostile.returncode}: {hostile.stderr[:200]}")
            continue
        try:
            if form == "csv":
                check_csv(title, plain.stdout, hostile.stdout, names)
            elif form == "json":
                check_json(title, plain.stdout, hostile.stdout, names, verb.split()[0])
            elif form == "dot":
                check_dot(title, plain.stdout, hostile.stdout, names)
            else:
                terminal = on_terminal(verb.split() + [a.replace("@", folders[1]) for a in arguments])
                ok(title, harmless(hostile.stdout) or harmless(terminal) or harmless(hostile.stderr))
        except (ValueError, csv.Error) as e:
            ok(title, f"{type(e).__name__}: {e}")


TABLES = ["csv", "json", "text"]


def cores(label, words, version):
    plain = [b"Zq%02dz" % i for i in range(6)]
    make_core("plain", version, plain)
    make_core("odd", version, words)
    names = Names(words)
    core = os.path.abspath(f"{FIXTURES}/cores/tiny-{version}.core.zst")
    rest = ["--prof", "@/exe.prof", core]
    # Both must be told from the same folder name; the path of the profile is a cell of JSON.
    folders = ["plain", "odd"]
    names_of_files = Names(words)
    names_of_files.bytes_of = lambda text: TOKEN.sub(lambda m: raw(words[int(m[1])]), text.replace("plain/", "odd/"))
    names_of_files.plain = lambda text, spell: spell(names_of_files.bytes_of(text).encode("latin-1")) \
        if TOKEN.search(text) or "plain/" in text else text
    for verb in ("tree", "holders", "summary", "top --by type", "top --by function", "types --places", "roots",
                 "objects", "edges", "waste", "tree --blocks", "top --by root", "why type:.",
                 "why --referrers type:.", "retained type:. root:global", "types"):
        compare(label, verb, rest, folders, names_of_files, TABLES)
    for verb in "dot", "dot --min 0 --nodes 100", "dot --blocks":
        compare(label, verb, rest, folders, names_of_files, ["dot"])
    svg = []
    for folder in folders:
        done = run(["dot", "-o", f"{folder}/x.svg"] + [a.replace("@", folder) for a in rest])
        svg.append(open(f"{WORK}/{folder}/x.svg", "rb").read() if done.returncode == 0 else done.stderr)
    try:
        check_tooltips(f"{label}: tooltips of SVG", svg[0], svg[1], names)
    except xml.etree.ElementTree.ParseError as e:
        ok(f"{label}: tooltips of SVG", e)
    for options in [], ["--by", "type"], ["--by", "root"]:
        chart(label, options, rest, names)
    held = json.loads(run(["holders", "--format", "json"] + [a.replace("@", "odd") for a in rest]).stdout)
    for row in held["rows"]:
        command = shlex.split(row["command"])
        done = subprocess.run(["sh", "-c", row["command"].replace("heapgraph", HG, 1)], cwd=WORK,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ok(f"{label}: the command of {command[2][:12]!r} runs",
           None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[:200]}")


def dumps(label, words):
    words = [(words[0] + b"########")[:8], words[1]]  # as long as 'cache.ml', for the profile is binary
    if not words[1] or b"/" in words[1]:
        words[1] = words[1].replace(b"/", b"|") + b"."
    make_dump("plain", [b"Zq00z.ml", b"Zq01z"])
    make_dump("odd", words)
    hostile = [words[0], words[1]]
    names = Names(hostile)
    names.bytes_of = lambda text: TOKEN.sub(lambda m: raw(hostile[int(m[1])]),
                                            text.replace("Zq00z.ml", "Zq00z").replace("plain/", "odd/"))
    names.plain = lambda text, spell: spell(names.bytes_of(text).encode("latin-1")) \
        if TOKEN.search(text) or "plain/" in text else text
    series = [f"@/heap.dump.8975.{i}" for i in (0, 2, 5)]
    rest = ["--no-host-files", "--prof", "@/x.prof"]
    for by in "path", "type", "location", "root", "module":
        if by == "module" and b"/" in words[0]:
            continue  # folders are no part of a module's name
        compare(label, f"diff --by {by}", rest + series[::2], ["plain", "odd"], names, TABLES)
        compare(label, f"trend --by {by}", rest + series, ["plain", "odd"], names, TABLES)
    for verb in "tree", "holders", "top --by location", "tree --blocks":
        compare(label, verb, rest + series[2:], ["plain", "odd"], names, TABLES)
    baseline(label, ["--prof", "odd/x.prof"], [path.replace("@", "odd") for path in series])
    for verb in "check", "check --max-path *=1":
        compare(label, verb, rest + series, ["plain", "odd"], names, TABLES)
        junit(label, verb, rest + series, names)
    chart(label, [], rest + series, names)


def chart(label, options, arguments, names):
    svg = []
    for folder in "plain", "odd":
        done = run(["trend", "-o", f"{folder}/chart.svg"] + options + [a.replace("@", folder) for a in arguments])
        svg.append(open(f"{WORK}/{folder}/chart.svg", "rb").read() if done.returncode == 0 else done.stderr)
    name = f"{label}: chart of a series {' '.join(options)}"
    try:
        check_chart(name, svg[0], svg[1], names.plain if options else names.path)
    except xml.etree.ElementTree.ParseError as e:
        ok(name, e)


def baseline(label, arguments, series):
    """The JSON of trend in place of the snapshots it was made of: names of any bytes are the same names."""
    options = ["--no-host-files"] + arguments
    done = run(["trend", "--format", "json", "-o", "odd/base.json"] + options + series[:2])
    ok(f"{label}: a baseline is written", None if done.returncode == 0 else done.stderr)
    for verb in "check", "diff", "trend", "check --max-path *=1":
        first = series[1:2] if verb == "diff" else series[:2]
        there = run(verb.split() + ["--format", "csv"] + options + first + series[2:])
        again = run(verb.split() + ["--format", "csv"] + options + ["odd/base.json"] + series[2:])
        ok(f"{label}: {verb} of a baseline", None if there.stdout == again.stdout and there.stdout.count(b"\n") > 1 and
           there.returncode == again.returncode else f"{there.returncode} {again.returncode} {again.stderr[:200]}")


def junit(label, verb, arguments, names):
    trees = []
    for folder in "plain", "odd":
        run(verb.split() + ["--junit", f"{folder}/x.xml"] + [a.replace("@", folder) for a in arguments])
        trees.append(xml.etree.ElementTree.parse(f"{WORK}/{folder}/x.xml"))
    plain, hostile = (sorted((e.tag, sorted(e.attrib.items()), e.text or "") for e in t.iter()) for t in trees)

    def spelled(text):
        lines = text.split("\nmade at ")
        lines[0] = names.path(lines[0], as_xml) if TOKEN.search(lines[0]) else lines[0]
        return "\nmade at ".join(lines[:1] + [names.plain(line, as_xml) for line in lines[1:]])
    wanted = sorted((tag, sorted((k, spelled(v)) for k, v in attributes), spelled(text))
                    for tag, attributes, text in plain)
    # A parser makes one newline of \r\n, so they are written as references.
    wanted, hostile = json.loads(json.dumps([wanted, hostile]))
    ok(f"{label}: {verb} as JUnit XML", None if wanted == hostile else differ(wanted, hostile))


def endless():
    """Names of 64 KB: some are cut, but nothing breaks."""
    make_core("endless", "4.13.1", [b"L" * 65536, "漢".encode() * 20000, b"x / " * 16384 + b"x", b"<" * 65536,
                                    b"\x1b" * 65536, b'"' * 65536])
    core = os.path.abspath(f"{FIXTURES}/cores/tiny-4.13.1.core.zst")
    rest = ["--prof", "endless/exe.prof", core]
    for verb in "tree", "holders", "summary", "top --by function", "why --referrers type:.", "retained type:.", "waste":
        outs = [run(verb.split() + ["--format", form] + rest) for form in TABLES]
        bad = [d.stderr for d in outs if d.returncode] or harmless(outs[2].stdout)
        rows = list(csv.reader(io.StringIO(raw(outs[0].stdout), newline=""), strict=True))
        if any(len(row) != len(rows[0]) for row in rows):
            bad = bad or "rows of other lengths"
        json.loads(outs[1].stdout.decode("utf-8", "strict"))
        ok(f"64 KB: {verb}", bad or None)
    done = run(["dot", "--min", "0"] + rest)
    check_dot("64 KB: dot", done.stdout, done.stdout, None)


def files(label, words):
    """Names of files, reasons of suppressions and patterns are the user's own, but not always typed by him."""
    for i, word in enumerate(w.replace(b"/", b"|")[:200] for w in words):
        title = f"{label} {i}"
        path = os.path.join(os.fsencode(WORK), b"files", b"x" + word + b"x.core")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(open(f"{FIXTURES}/v01/tiny/heap.dump.29370.0", "rb").read())
        rest = ["--no-host-files", "--prof", os.path.abspath(f"{FIXTURES}/v01/tiny/t1.prof")]
        done = run(["summary", "--format", "json", path] + rest)
        got = json.loads(done.stdout)["snapshot"]["file"]
        ok(f"{title}: name of a file as JSON", None if got == as_json(path) else differ(as_json(path), got))
        bad = harmless(run(["summary", path] + rest).stdout) or harmless(run(["diff", path, path] + rest).stdout)
        ok(f"{title}: name of a file as text", bad)
        done = run(["top", path + b".none"])
        bad = harmless(done.stderr)
        ok(f"{title}: name of a file in an error", bad or None if done.stderr.count(b"\n") == 1 else done.stderr)
        pattern = b"type:string|(" + re.sub(rb"([^a-zA-Z0-9])", rb"[\1]", word.replace(b"\\", b"").replace(
            b"^", b"")) + b")?string"
        done = run(["retained", pattern, path, "--format", "csv"] + rest)
        got = list(csv.reader(io.StringIO(raw(done.stdout), newline=""), strict=True))[1:2]
        ok(f"{title}: a pattern as CSV", None if got and got[0][1] == raw(pattern) else f"{got} {done.stderr}")
        done = run(["why", b"type:" + re.sub(rb"([^a-zA-Z0-9])", rb"[\1]", word.replace(b"\\", b"").replace(
            b"^", b"")) + b"none", path] + rest)
        ok(f"{title}: a pattern in an error", harmless(done.stderr) or
           (None if done.returncode == 2 and not done.stdout else f"exit {done.returncode} {done.stdout[:80]}"))
        reason = word.replace(b"\n", b" ").strip(b" \r") or b"-"
        write("known", b"* until 2999-12-31: " + reason + b"\n")
        series = [os.path.abspath(f"{FIXTURES}/v01/cache-dump/heap.dump.8975.{n}") for n in ("0", "2.zst", "5.zst")]
        done = run(["check", "--no-host-files", "--suppress", "known", "--junit", "x.xml"] + series)
        bad = harmless(done.stdout)
        got = [e.get("message") for e in xml.etree.ElementTree.parse(f"{WORK}/x.xml").iter("skipped")]
        wanted = [as_xml(reason)] * len(got)
        ok(f"{title}: a reason as JUnit XML", None if got and got == wanted else differ(wanted, got))
        ok(f"{title}: a reason as text", bad or (None if done.returncode == 0 else done.stderr))


for label, words in SETS.items():
    if not re.fullmatch(os.environ.get("ONLY", ".*"), label):
        continue
    for version in "4.13.1", "5.3.0":
        if version == "4.13.1" or label == "paths":
            cores(f"{label}, {version}", words, version)
    dumps(label, words)
    files(label, words)
endless()
