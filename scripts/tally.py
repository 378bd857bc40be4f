#!/usr/bin/env python3
"""tally.py TESTLOG.JSON - counts the tests of one run of `meson test`, for scripts/test.

Prints "PASSED FAILED SKIPPED", and then one a line "FAILED NAME: REASON" for what failed and "SKIPPED NAME: REASON" for what was skipped. A program that says how many checks it made (Check and node do) counts as that many, any other one as one.
"""
import json
import re
import sys

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.M)
NODE = re.compile(r"^\S+ pass (\d+)$.*?^\S+ fail (\d+)$.*?^\S+ skipped (\d+)$", re.M | re.S)
CHECK_FAILED = re.compile(r"^([^:\s]+\.c:\d+):[FE]:(.*)$", re.M)
NODE_FAILED = re.compile(r"^\u2716 (?!failing tests:)(.*?)(?: \([\d.]+ms\))?\n\s*(.*)$", re.M)
REASON_LENGTH = 300
SKIPPED = re.compile(r"^\s*\ufe63 (.*?)(?: \([\d.]+ms\))?(?: # (.*))?$", re.M)


def reasons(test):
    """What was skipped in one program, and why. A program that skips itself says why in its last line."""
    said = test.get("stdout", "").strip()
    if test["result"] == "SKIP":
        return [(said or "no reason given").split("\n")[-1]]
    return [f"{name}: {why or 'no reason given'}" for name, why in dict(SKIPPED.findall(said)).items()]


def failures(test):
    """What failed in one program, and with which words."""
    said = test.get("stdout", "")
    told = [f"{where}: {what}" for where, what in CHECK_FAILED.findall(said)]
    if "failing tests:" in said:
        told += [f"{name}: {why}" for name, why in NODE_FAILED.findall(said.split("failing tests:")[-1])]
    return [reason[:REASON_LENGTH] for reason in told] or [f"{test['result'].lower()} after {test['duration']:.0f} s"]


def counts(test):
    """(passed, failed, skipped) of one program. One that failed has at least one failure, whatever it said."""
    failed = test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")
    said = test.get("stdout", "")
    if test["result"] == "SKIP":
        return 0, 0, 1
    if check := CHECK.findall(said):
        bad = sum(int(failures) + int(errors) for _, failures, errors in check)
        good = sum(int(checks) for checks, _, _ in check) - bad
        return good, max(bad, int(failed)), 0
    if node := NODE.search(said):
        good, bad, skipped = map(int, node.groups())
        return good, max(bad, int(failed)), skipped
    return int(not failed), int(failed), 0


def main(path):
    with open(path, encoding="utf-8") as log:
        tests = [json.loads(line) for line in log]
    rows = [(test, counts(test)) for test in tests]
    print(*(sum(row[i] for _, row in rows) for i in range(3)))
    for test, (_, failed, _) in rows:
        for reason in failures(test) if failed else []:
            print(f"FAILED {test['name']}: {reason}")
        for reason in reasons(test):
            print(f"SKIPPED {test['name']}: {reason}")


main(sys.argv[1])
