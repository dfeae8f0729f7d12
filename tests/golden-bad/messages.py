#!/usr/bin/env python3
"""
Checks that traces.tsv has every message of the readers of traces and series, or unmet.tsv says why
it cannot be met.  Messages are the texts given to what fails or notes a loss.
"""

import ast
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SOURCES = ("trace/*.c", "trace/*/*.c", "query/trace/open.c", "query/spacetime/*.c")
TEXT = r'"(?:[^"\\]|\\.)*"'
# A call up to its last text in a row, and what is kept to be said later.
SAID = re.compile(r"\b(base_corrupt|base_fail|note_loss|query_spacetime_skip)\(|"
                  r"(?:->lost|\.first|->losses\.first|\bwhat|unreadable_value\[\]) =")


def texts_of(source):
    for found in SAID.finditer(source):
        rest = source[found.end():]
        statement = rest[:rest.find(";")]
        for row in re.finditer(r"%s(?:\s*(?:%s|PRI\w+))*" % (TEXT, TEXT), statement):
            text = "".join(ast.literal_eval(t) for t in re.findall(TEXT, row.group()))
            yield text, found.group(1)


def messages():
    """Each text with the file that it is in; wrong use of the library is no message about files."""
    for pattern in SOURCES:
        for path in sorted(glob.glob(os.path.join(TOP, pattern))):
            with open(path) as file:
                source = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            usage = set(re.findall(r"HG_ERROR_USAGE,\s*HG_NO_OFFSET,\s*(%s)" % TEXT, source))
            for text, _ in texts_of(source):
                if text != "%s" and not any(text.startswith(ast.literal_eval(u)) for u in usage):
                    yield text, os.path.relpath(path, TOP)


def matcher(text):
    return re.compile(re.sub(r"%[0-9.*]*(?:ll|z)?[a-z]", ".*", re.escape(text).replace(r"\%", "%")))


def column(name, number):
    with open(os.path.join(HERE, name)) as table:
        return [line.rstrip("\n").split("\t")[number] for line in table if not line.startswith("#")]


def main():
    said, unmet = column("traces.tsv", 3), column("unmet.tsv", 0)
    bad, used = [], set()
    for text, path in messages():
        if text in unmet:
            used.add(text)
        elif not any(matcher(text).search(line) for line in said):
            bad.append("%s: no file for '%s'" % (path, text))
    bad += ["unmet.tsv: no such message: '%s'" % text for text in unmet if text not in used]
    print("\n".join(bad))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
