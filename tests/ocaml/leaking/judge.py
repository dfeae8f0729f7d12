#!/usr/bin/env python3
"""judge.py SOURCE TREND CHECK STATUS - what is wrong with what trend and check say of a program.

SOURCE says what is true: 'HELD BY root' who holds what leaks, '(* LEAK *)' on which lines it is made
and kept; without any it is healthy.  TREND is the output of trend by path, as CSV or JSON; CHECK
that of 'check --format json' and STATUS its exit status.  Each complaint is a line; exit status 1 if
there is any.
"""
import csv
import json
import os
import re
import sys

# In ten-thousandths of the growth: what a leak has at least, and what check fails for.
SHARE = 9500
OFFENCE = 500


def truth(source):
    """The root that holds the leak, or None, and the planted lines."""
    with open(source, encoding="utf-8") as lines:
        text = lines.read()
    held = re.search(r"HELD BY (.*?)\s*\*\)", text)
    name = os.path.basename(source)
    planted = {f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if "(* LEAK *)" in line}
    if (held is None) != (not planted):
        sys.exit(f"{source}: says who holds a leak, or where it is, but not both")
    return held and held.group(1), planted


def rows_of(trend):
    with open(trend, encoding="utf-8", newline="") as file:
        text = file.read()
    if text.startswith("{"):
        return json.loads(text)["rows"]
    return list(csv.DictReader(text.splitlines()))


def lines_of(made_at):
    """The 'file:line's; of files only their names."""
    return {os.path.basename(line.strip()) for line in (made_at or "").split(";") if line.strip()}


def first_name(path):
    """The root of a path; names that hold ' / ' themselves are quoted."""
    quoted = re.match(r'"(?:[^"\\]|\\.|"")*"', path)
    return quoted.group(0) if quoted else path.split(" / ")[0]


def is_held_by(path, root, held_by):
    """Whether a path begins with the root, or if it begins with none, that holds it among others."""
    first = first_name(path)
    return first == root or first.startswith(root + " ") or root in held_by.get(path, "").split(";")


def growing(rows):
    """The paths said to grow, in their order, each with its last row, and complaints about rows."""
    paths, wrong = {}, []
    for row in rows:
        if int(row["grows"]):
            paths.setdefault(row["path"], []).append(row)
    for path, of_path in paths.items():
        counts = [int(row["blocks"]) for row in sorted(of_path, key=lambda row: int(row["index"]))]
        if len(counts) < 4 or any(b <= a for a, b in zip(counts, counts[1:])):
            wrong.append(f"grows, but its blocks are {counts}: {path}")
    return {path: of_path[-1] for path, of_path in paths.items()}, wrong


def judge_leak(found, root, planted, held_by):
    wrong = []
    if len(found) != 1:
        told = " | ".join(f"{row['growth_share']} of {path}" for path, row in found.items())
        wrong.append(f"{len(found)} paths grow, not one: {told}")
    for path, row in found.items():
        if not is_held_by(path, root, held_by):
            wrong.append(f"its root is not {root}: {path}")
        if not planted & lines_of(row["made_at"]):
            wrong.append(f"made at '{row['made_at']}', planted at {' '.join(sorted(planted))}: {path}")
        if int(row["growth_share"]) < SHARE:
            wrong.append(f"{row['growth_share']} ten-thousandths of the growth: {path}")
    return wrong


def holders_of(check):
    """By path, as check says."""
    if not os.path.getsize(check):
        return {}
    with open(check, encoding="utf-8") as file:
        return {row["path"]: row.get("held_by", "") for row in json.load(file)["rows"]}


def judge_check(check, status, found, planted):
    found = [path for path, row in found.items() if row is None or int(row["growth_share"]) >= OFFENCE]
    wanted = 1 if found else 0
    if status != wanted:
        return [f"check ends with {status}, not {wanted}"]
    with open(check, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    wrong = []
    if sorted(row["path"] for row in rows) != sorted(found):
        wrong.append(f"check names {[row['path'] for row in rows]}")
    for row in rows:
        if planted and not planted & (lines_of(row["made_at"]) | lines_of(row.get("defined_at"))):
            wrong.append(f"check says made at '{row['made_at']}', defined at '{row.get('defined_at')}'")
    return wrong


def main():
    source, trend, check, status = sys.argv[1:]
    root, planted = truth(source)
    found, wrong = growing(rows_of(trend))
    if root:
        wrong += judge_leak(found, root, planted, holders_of(check))
    else:
        wrong += [f"grows, in a healthy program: {path}" for path in found]
    # A wrong path is told once: check is to say what trend says, of a leak that there is one.
    wrong += judge_check(check, int(status), found or ({"?": None} if root else {}), planted)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
