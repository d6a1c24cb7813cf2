#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the workloads and writes what came out; scripts/bench builds them first and calls this."""

import argparse
import os
import pathlib
import sys

import machine
import plan
import plots
import results
import runs
import summary

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = HERE.parent / "workloads"
RESULTS = HERE.parent / "results"


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line for each group."""

    def __init__(self, title):
        self.title = title
        self.rewrites = sys.stderr.isatty()
        if not self.rewrites:
            print(title, file=sys.stderr, flush=True)

    def __call__(self, text):
        if self.rewrites:
            print(f"\r\033[K{self.title}: {text}", end="", file=sys.stderr, flush=True)

    def done(self):
        if self.rewrites:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def names():
    return sorted(folder.name for folder in WORKLOADS.iterdir() if folder.is_dir())


def run_workload(workload, programs, size, rounds):
    """The results of its groups, and what failed."""
    done, failed = [], []
    for number, group in enumerate(workload.groups, 1):
        progress = Progress(f"{workload.name} {number}/{len(workload.groups)}")
        others = machine.Others()
        try:
            reports = runs.run_group(group, programs, size, rounds, progress)
            done.append(results.group_result(group, reports, size, others.cores()))
        except runs.Failure as failure:
            failed.append(f"{workload.name}: {failure}")
        progress.done()
    return done, failed


def smoke(workloads, programs):
    """Each program once with small numbers: do they run, and do the same work? One that was built
    may be absent only by its own word (runs.ABSENT). WEFT_BENCH_SMOKE tells them (foreign.py)."""
    failed = []
    for workload in workloads:
        due = [run for group in workload.groups for run in group.runs]
        missing = sorted({run.program for run in due if programs.missing(run)})
        if missing:
            failed.append(f"{workload.name}: not there: {', '.join(missing)}")
        elif not any(programs.command(run) for run in due):
            failed.append(f"{workload.name}: none of its programs is there")
        done, failures = run_workload(workload, programs, plan.SMOKE, 1)
        failed += failures
        absent = {name for group in done for name, run in group["runs"].items() if not run}
        ran = {name for group in done for name, run in group["runs"].items() if run}
        print(f"{workload.name}: {', '.join(sorted(ran)) or 'nothing'} ran"
              + (f"; absent: {', '.join(sorted(absent))}" if absent else ""))
    return failed


def write(folder, quick):
    """The summary and the pictures, of all results in the folder."""
    found = [results.stored(folder, name) for name in names()]
    found = sorted(filter(None, found), key=lambda one: (one["table"] != "Scheduling",
                                                         one["table"], one["order"]))
    missing = sorted(set(names()) - {one["workload"] for one in found})
    if missing and not quick:
        print(f"{folder}/summary.md stays as it is: no results of {', '.join(missing)}",
              file=sys.stderr)
        return
    (folder / "summary.md").write_text(summary.markdown(found, quick))
    for draw in (plots.models, plots.ratios):
        if not draw(found, folder / f"{draw.__name__}.svg"):
            print(f"no {draw.__name__}.svg: matplotlib or the figures are absent", file=sys.stderr)
    print(f"written: {folder}/summary.md", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true",
                        help="small numbers and few rounds; the results go to bench/results/quick")
    parser.add_argument("--rounds", type=int, help="how often each program runs")
    parser.add_argument("--list", action="store_true", help="prints the workloads' names")
    parser.add_argument("--summary", action="store_true",
                        help="runs nothing: writes the summary anew from the results that are there")
    parser.add_argument("--smoke", action="store_true",
                        help="runs each program once, with tiny numbers, and writes nothing")
    parser.add_argument("--programs", default=HERE.parent.parent / "build/bench/bench",
                        help="the folder of the built programs")
    parser.add_argument("workloads", nargs="*", metavar="NAME", help="a workload; all by default")
    options = parser.parse_args()
    if options.list:
        print("\n".join(names()))
        return 0
    unknown = set(options.workloads) - set(names())
    if unknown:
        parser.error(f"no workload is called {', '.join(sorted(unknown))}")

    size = plan.SMOKE if options.smoke else plan.QUICK if options.quick else plan.FULL
    folder = RESULTS / "quick" if options.quick else RESULTS
    chosen = [plan.load(WORKLOADS / name, size) for name in options.workloads or names()]
    programs = runs.Programs(options.programs, WORKLOADS)
    failed = []
    if options.smoke:
        os.environ["WEFT_BENCH_SMOKE"] = "1"
        failed = smoke(chosen, programs)
    elif not options.summary:
        for workload in chosen:
            done, failures = run_workload(workload, programs, size, options.rounds)
            failed += failures
            print(summary.terminal(results.store(folder, workload, machine.describe(), done)),
                  flush=True)
    if not options.smoke:
        write(folder, options.quick)
    for failure in failed:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
