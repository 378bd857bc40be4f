#!/usr/bin/env bash
# How scripts/tally.py counts and what it says of failures. usage: tally.sh SCRIPTS
set -u
python3 - "$1/tally.py" <<'EOF'
import json
import subprocess
import sys
import tempfile

TESTS = [
    {"name": "unit", "result": "OK", "stdout": "100%: Checks: 3, Failures: 0, Errors: 0\n"},
    {"name": "bus", "result": "FAIL", "stdout": "50%: Checks: 2, Failures: 1, Errors: 0\n../tests/bus.c:33:F:case:heals:0: Assertion 'n == 0' failed: n == 1, 0 == 0\n"},
    {"name": "http", "result": "FAIL", "stdout": "✖ slow (52.1ms)\n\nℹ pass 4\nℹ fail 1\nℹ skipped 1\n﹣ nginx (0.1ms) # it is not installed\n\n✖ failing tests:\n\ntest at a.mjs:2:1\n✖ slow (52.1ms)\n  AssertionError [ERR_ASSERTION]: 5200 ms\n      at a.mjs:3\n"},
    {"name": "deaf", "result": "TIMEOUT", "stdout": ""},
    {"name": "away", "result": "SKIP", "stdout": "looked\nno browser\n"},
]
SAID = """8 3 2
FAILED bus: ../tests/bus.c:33: case:heals:0: Assertion 'n == 0' failed: n == 1, 0 == 0
FAILED http: slow: AssertionError [ERR_ASSERTION]: 5200 ms
SKIPPED http: nginx: it is not installed
FAILED deaf: timeout after 90 s
SKIPPED away: no browser
"""
with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
    log.writelines(json.dumps({"duration": 90.4} | test) + "\n" for test in TESTS)
    log.flush()
    said = subprocess.run([sys.executable, sys.argv[1], log.name], check=True, capture_output=True, text=True).stdout
if said != SAID:
    sys.exit(f"it says\n{said}instead of\n{SAID}")
EOF
