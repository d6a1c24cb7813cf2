#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs programs/main.go: go.py --what WHAT --count COUNT

Prints the line of JSON that every benchmark prints; ends with 77 where Go is absent."""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "main.go"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--what", default="0")
    parser.add_argument("--count", default="1000000")
    arguments = parser.parse_args()
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not go:
        sys.exit(77)
    program = pathlib.Path(os.environ["WEFT_BENCH_PROGRAMS"]) / "channel_go"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        subprocess.run([go, "build", "-o", program, SOURCE], check=True)
    version = subprocess.run([go, "env", "GOVERSION"], check=True, capture_output=True, text=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, arguments.what, arguments.count], check=True,
                          capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    nanoseconds, checksum, waiting = (int(word) for word in done.stdout.split())
    count = int(arguments.count)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({
        "workload": "channel", "implementation": "go", "note": version.stdout.strip(),
        "operations": count, "checksum": checksum, "seconds": nanoseconds / 1e9,
        "cpu_seconds": cpu, "ns_per_operation": nanoseconds / count,
        "figures": {"waiting_bytes": waiting} if arguments.what == "5" else {}}))


if __name__ == "__main__":
    main()
