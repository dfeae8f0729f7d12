#!/usr/bin/env python3
"""terminal.py COLUMNS COMMAND...: runs a command whose standard output is a terminal of that width, and
prints what it wrote.  COLUMNS 0: a terminal that does not say how wide it is."""
import fcntl
import os
import pty
import struct
import sys
import termios

columns = int(sys.argv[1])
errors = os.dup(2)
child, master = pty.fork()
if child == 0:
    os.dup2(errors, 2)
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
output = b""
while True:
    try:
        piece = os.read(master, 65536)
    except OSError:  # the end, on Linux
        break
    if not piece:
        break
    output += piece
sys.stdout.buffer.write(output.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
