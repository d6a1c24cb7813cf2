#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Counts the user-space instructions of a message of unix_echo: count.py weft_epoll --pairs 100
--messages 50

callgrind runs the program twice, with 50 messages for each pair and with 150: the difference is what
the messages cost, without start and end. Prints the line of JSON that every benchmark prints; ends
with 77 where valgrind or the program is absent."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

COLLECTED = re.compile(r"Collected : (\d+)")


def run(program, pairs, messages):
    """The instructions counted and what the program reports."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program),
         "--pairs", str(pairs), "--messages", str(messages)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return int(COLLECTED.search(done.stderr)[1]), json.loads(done.stdout.strip().splitlines()[-1])


def main():
    implementation, _, pairs, _, messages = sys.argv[1:]
    pairs, messages = int(pairs), int(messages)
    program = (pathlib.Path(os.environ["WEFT_BENCH_PROGRAMS"])
               / f"bench_unix_echo_{implementation}")
    if not shutil.which("valgrind") or not program.exists():
        sys.exit(77)
    start = time.monotonic()
    few, of_few = run(program, pairs, messages)
    many, of_many = run(program, pairs, 3 * messages)
    seconds = time.monotonic() - start
    operations = of_many["operations"] - of_few["operations"]
    print(json.dumps({
        "workload": "instructions", "implementation": implementation,
        "note": of_many["note"] + ", callgrind", "operations": operations, "checksum": 0,
        "seconds": seconds, "cpu_seconds": seconds, "ns_per_operation": seconds * 1e9 / operations,
        "figures": {"instructions": (many - few) / operations}}))


if __name__ == "__main__":
    main()
