#!/usr/bin/env python3
"""complete_zsh.py LINE - types LINE and two tabs into zsh on a terminal, prints the words that it offers, in order."""
import os, pty, re, select, sys, time

pid, terminal = pty.fork()
if pid == 0:
    os.execvp("zsh", ["zsh", "-f", "-i"])


def until(pattern):
    shown, end = "", time.monotonic() + 10
    while time.monotonic() < end and not re.search(pattern, shown):
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
    return shown


# Written apart, so that the echo of the line is not taken for its output.
os.write(terminal, b"autoload -Uz compinit; compinit -u -D; setopt AUTO_LIST NO_BEEP; PS1=; echo REA''DY\n")
until("READY")
os.write(terminal, sys.argv[1].encode() + b"\t\t")
offered = until(r"-- [^\n]*\x1b\[A")
print(" ".join(re.findall(r"(?:^|\n|\x1b\[J)([a-z-]+) +-- ", offered)))
