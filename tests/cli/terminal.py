#!/usr/bin/env python3
"""terminal.py [--widest] COLUMNS COMMAND...: runs a command whose standard output is a terminal of that
width, and prints what it wrote, or the columns of its widest line without what colours it.  COLUMNS 0: a
terminal that does not say how wide it is."""
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import unicodedata


def widest(text):
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).split("\n")
    return max(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in lines)


wants_widest = sys.argv[1] == "--widest"
columns, *command = sys.argv[1 + wants_widest:]
columns = int(columns)
errors = os.dup(2)
child, master = pty.fork()
if child == 0:
    os.dup2(errors, 2)
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(command[0], command)
output = b""
while True:
    try:
        piece = os.read(master, 65536)
    except OSError:  # the end, on Linux
        break
    if not piece:
        break
    output += piece
output = output.replace(b"\r\n", b"\n")
sys.stdout.buffer.write(b"%d\n" % widest(output) if wants_widest else output)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
