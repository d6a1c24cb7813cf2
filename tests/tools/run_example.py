#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs an example and compares its standard output, line by line, with NAME.expected.

A line of that file stands for itself, except that
    /regex/   stands for one line that the regex (Python's) matches as a whole, and
    ...       stands for any number of lines, none included.
Beside NAME.expected may lie NAME.args (one argument a line) and NAME.input (standard input). The
example has to end by itself with status 0.
"""
import argparse
import pathlib
import re
import subprocess
import sys


def line_matches(expected, line):
    if len(expected) > 1 and expected.startswith("/") and expected.endswith("/"):
        return re.fullmatch(expected[1:-1], line) is not None
    return expected == line


def matches(expected, lines):
    """Whether all the lines are accounted for. Also returns how many lines were, at best."""
    reachable, best = {0}, 0
    for pattern in expected:
        if pattern == "...":
            reachable = set(range(min(reachable), len(lines) + 1))
        else:
            reachable = {i + 1 for i in reachable
                         if i < len(lines) and line_matches(pattern, lines[i])}
        if not reachable:
            return False, best
        best = max(best, min(reachable))
    return len(lines) in reachable, best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--expected", type=pathlib.Path, required=True)
    parser.add_argument("--timeout", type=float, default=100, help="seconds")
    parser.add_argument("command", nargs="+", help="the program, and its first arguments")
    arguments = parser.parse_args()

    if not arguments.expected.exists():
        print(f"{arguments.expected.name} is missing: an example says what it prints")
        return 1
    args_file = arguments.expected.with_suffix(".args")
    input_file = arguments.expected.with_suffix(".input")
    command = [*arguments.command]
    command += args_file.read_text().splitlines() if args_file.exists() else []
    try:
        done = subprocess.run(command, input=input_file.read_bytes() if input_file.exists() else b"",
                              stdout=subprocess.PIPE, timeout=arguments.timeout, check=False)
    except subprocess.TimeoutExpired as expired:
        print(f"still running after {arguments.timeout} s; it had printed:")
        print((expired.stdout or b"").decode(errors="replace"))
        return 1
    lines = done.stdout.decode(errors="replace").splitlines()
    print("\n".join(lines))
    if done.returncode != 0:
        print(f"ended with status {done.returncode}")
        return 1
    right, best = matches(arguments.expected.read_text().splitlines(), lines)
    if not right:
        print(f"differs from {arguments.expected.name}; the first {best} lines are as expected")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
