#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the implementations of one workload in turn, A B C A B C ..., and compares them.

    compare.py [--rounds N] [--reference NAME] WORKLOAD PROGRAM... [-- ARGUMENT...]

Each program prints one line of JSON (bench/harness/run.hpp). All must report the same operations
and checksum: otherwise they did different work, and that is an error. What is printed is the median
of the rounds, their spread (median absolute deviation), and the ratio to the reference, taken round
by round so that a machine whose speed drifts does not distort it; and the same of processor time,
which is what counts where the load comes from another process.
"""

import argparse
import json
import statistics
import subprocess
import sys


def run(program, arguments):
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: ended with {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reference", help="the implementation the ratios are taken to")
    parser.add_argument("workload")
    parser.add_argument("programs", nargs="+")
    arguments = sys.argv[1:]
    passed_on = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, passed_on = arguments[:at], arguments[at + 1 :]
    options = parser.parse_args(arguments)

    results = {}
    for number in range(options.rounds + 1):  # the first round warms up and is not counted
        for program in options.programs:
            one = run(program, passed_on)
            if number:
                results.setdefault(one["implementation"], []).append(one)
        print(f"\r{options.workload}: round {number}/{options.rounds}", end="", file=sys.stderr)
    print(file=sys.stderr)

    work = {(one["operations"], one["checksum"]) for runs in results.values() for one in runs}
    if len(work) != 1:
        sys.exit(f"{options.workload}: the implementations did different work: {sorted(work)}")
    reference = options.reference if options.reference in results else next(iter(results))

    operations = next(iter(work))[0]
    print(f"{options.workload}: {operations} operations, {options.rounds} rounds, ratios to {reference}")
    print(f"{'implementation':<22}{'ns/op':>10}{'spread':>9}{'ratio':>8}{'cpu ns/op':>11}{'ratio':>8}  note")
    for name, runs in sorted(results.items()):
        wall = [one["ns_per_operation"] for one in runs]
        cpu = [one["cpu_seconds"] * 1e9 / operations for one in runs]
        ratio = [a / b["ns_per_operation"] for a, b in zip(wall, results[reference])]
        cpu_ratio = [a["cpu_seconds"] / b["cpu_seconds"] for a, b in zip(runs, results[reference])]
        median = statistics.median(wall)
        spread = statistics.median(abs(w - median) for w in wall)
        print(
            f"{name:<22}{median:>10.1f}{spread:>9.1f}{statistics.median(ratio):>8.3f}"
            f"{statistics.median(cpu):>11.1f}{statistics.median(cpu_ratio):>8.3f}"
            f"  {runs[0]['note']}"
        )


if __name__ == "__main__":
    main()
