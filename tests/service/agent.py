#!/usr/bin/env python3
"""An agent that speaks stream-json and tells what it may do: make machine code, write to its home, change a file's owner."""
import json, mmap, os, sys


def may(what):
    try:
        what()
        return "yes"
    except OSError:
        return "no"


def write_home():
    with open(os.path.expanduser("~/.agent-was-here"), "w") as file:
        file.write("x")


def own():
    write_home()
    os.chown(os.path.expanduser("~/.agent-was-here"), os.getuid(), os.getgid())


def code():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


for line in sys.stdin:
    if json.loads(line).get("type") == "user":
        told = f"can: code={may(code)} home={may(write_home)} owner={may(own)}"
        print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": told}), flush=True)
