# SPDX-License-Identifier: BSL-1.0
"""Runs the programs of a group in turn, A B C A B C ..., and keeps what they report."""

import json
import os
import pathlib
import subprocess
import sys

TIMEOUT = 300  # seconds, for one run of one program


class Failure(Exception):
    """A program that failed, or that did other work than the others."""


class Programs:
    """Where the programs are: built ones in a folder, scripts in bench/workloads."""

    def __init__(self, built, workloads):
        self.built = pathlib.Path(built)
        self.workloads = pathlib.Path(workloads)

    def command(self, run):
        """How to start a run, or None where its program is absent."""
        program = self.built / f"bench_{run.workload}_{run.implementation}"
        if program.exists():
            return [str(program), *run.arguments]
        script = self.workloads / run.workload / f"{run.implementation}.py"
        if script.exists():
            return [sys.executable, str(script), *run.arguments]
        return None

    def missing(self, run):
        """Whether a run's program should be there, for programs.txt names it, and is not."""
        listed = self.built / "programs.txt"
        name = f"bench_{run.workload}_{run.implementation}"
        return (not self.command(run) and listed.exists()
                and name in listed.read_text().splitlines())


ABSENT = 77  # what a program ends with that cannot run here: the kernel lacks what it needs


def once(command, built):
    """One run's line of JSON; None where its peer or what it needs of the kernel is absent."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "WEFT_BENCH_PROGRAMS": str(built)}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              timeout=TIMEOUT, env=environment)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)}: took more than {TIMEOUT} s") from None
    if done.returncode == ABSENT:
        return None
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: ended with {done.returncode}")
    lines = done.stdout.strip().splitlines()
    if not lines:
        raise Failure(f"{' '.join(command)}: reported nothing")
    return json.loads(lines[-1])


def value(report, measure):
    if measure == "wall":
        return report["ns_per_operation"]
    if measure == "cpu":
        return report["cpu_seconds"] * 1e9 / report["operations"]
    return report["figures"][measure]


def run_group(group, programs, size, rounds, progress):
    """Reports by run, {name: [report, ...]}, one for each round; one that is absent has none. A round
    before the first warms up and is not counted. `rounds` overrides how many."""
    commands = {run.name: programs.command(run) for run in group.runs}
    present = [run for run in group.runs if commands[run.name]]
    wanted = {run.name: rounds or group.rounds(run, size) for run in present}
    reports = {run.name: [] for run in group.runs}
    most = max(wanted.values(), default=0)
    first = 1 if size == 2 else 0
    work = {}
    for number in range(first, most + 1):
        for run in present:
            if number > wanted[run.name]:
                continue
            progress(f"round {number}/{most}, {run.name}")
            report = once(commands[run.name], programs.built)
            if report is None:
                wanted[run.name] = -1
                continue
            did = (report["operations"], report["checksum"])
            work.setdefault(did, run.name)
            if len(work) > 1:
                raise Failure("different work was done: " + ", ".join(
                    f"{name}: {operations} operations, checksum {checksum}"
                    for (operations, checksum), name in work.items()))
            if group.operations is not None and did[0] != group.operations:
                raise Failure(f"{run.name}: {did[0]} operations where {group.operations} were due")
            if number:
                reports[run.name].append(report)
    return reports
