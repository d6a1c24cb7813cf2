#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The harness of the benchmarks: its plans, its statistics, its verdicts, and its refusals."""
import contextlib
import io
import json
import os
import pathlib
import statistics
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bench" / "harness"))
import bench  # noqa: E402
import compare  # noqa: E402
import foreign  # noqa: E402
import machine  # noqa: E402
import plan  # noqa: E402
import results  # noqa: E402
import runs  # noqa: E402
import summary  # noqa: E402

PLAN = """
table = "Scheduling"
order = 3
numbers.handlers = [1000, 100, 10]
[[group]]
each.threads = [{threads = 1, limit = ""}, {threads = 2, limit = 1.1}]
each.turns = [0, 50]
operations = "{handlers}"
runs.weft = "weft --threads {threads} --turns {turns} --handlers {handlers}"
runs.asio = "asio --handlers {handlers}"
runs.other = "elsewhere/weft"
rows = [
  {name = "{threads} threads", of = "weft", to = "asio", at_most = "{limit}"},
  {name = "of the other", of = "other", to = ["weft", "asio"], at_least = 2.0},
]
"""


def report(wall, operations=10, checksum=1, **figures):
    return {"ns_per_operation": wall, "cpu_seconds": wall * operations / 1e9, "note": "a note",
            "operations": operations, "checksum": checksum, "figures": figures}


class Plans(unittest.TestCase):
    def load(self, text, size=plan.FULL):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder) / "chain"
            home.mkdir()
            (home / "rows.toml").write_text(text)
            return plan.load(home, size)

    def test_a_group_is_made_for_each_combination(self):
        groups = self.load(PLAN).groups
        self.assertEqual([(g.values["threads"], g.values["turns"]) for g in groups],
                         [(1, 0), (1, 50), (2, 0), (2, 50)])
        self.assertEqual(groups[3].runs[0].program, "chain/weft")
        self.assertEqual(groups[3].runs[0].arguments,
                         ["--threads", "2", "--turns", "50", "--handlers", "1000"])
        self.assertEqual(groups[3].runs[2].program, "elsewhere/weft")
        self.assertEqual(groups[3].rows[0].name, "2 threads")

    def test_numbers_follow_the_size_asked_for(self):
        self.assertEqual([self.load(PLAN, size).groups[0].operations
                          for size in (plan.FULL, plan.QUICK, plan.SMOKE)], [1000, 100, 10])

    def test_an_empty_limit_is_none(self):
        self.assertIsNone(self.load(PLAN).groups[0].rows[0].at_most)
        self.assertEqual(self.load(PLAN).groups[2].rows[0].at_most, 1.1)

    def test_a_row_has_the_unit_of_its_measure_unless_it_names_one(self):
        units = {"wall": "ns", "cpu": "ns", "run_ns": "ns", "delay_us": "µs", "due_ms": "ms",
                 "waiting_bytes": "bytes", "busy_percent": "%", "stat_per_s": "/s",
                 "read_MB_per_s": "MB/s", "instructions": ""}
        self.assertEqual({m: plan.Row("a row", ["weft"], measure=m).unit for m in units}, units)
        self.assertEqual(plan.Row("a row", ["weft"], measure="cpu", unit="s").unit, "s")

    def test_only_runs_of_rows_near_1_are_run_often(self):
        group = self.load(PLAN).groups[2]
        self.assertEqual([group.rounds(run, plan.FULL) for run in group.runs], [31, 31, 5])
        self.assertEqual([group.rounds(run, plan.SMOKE) for run in group.runs], [1, 1, 1])

    def test_a_row_that_names_an_unknown_run_is_refused(self):
        with self.assertRaisesRegex(ValueError, "unknown runs \\['weaft'\\]"):
            self.load(PLAN.replace('of = "weft"', 'of = "weaft"'))

    def test_without_a_plan_every_implementation_is_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("weft.cpp", "asio.cpp", "shared.hpp"):
                (pathlib.Path(folder) / name).touch()
            only, = plan.load(pathlib.Path(folder)).groups
        self.assertEqual([run.implementation for run in only.runs], ["asio", "weft"])


class Statistics(unittest.TestCase):
    def test_the_ratio_is_taken_round_by_round(self):
        drifting = {"slow": [10.0, 100.0, 1000.0]}
        done = compare.compare([5.0, 50.0, 500.0], drifting, True, 3)
        self.assertEqual((done.ratio, done.of, done.to, done.pairs), (0.5, 50.0, 100.0, 3))

    def test_the_spread_is_the_median_absolute_deviation(self):
        self.assertEqual(compare.spread([1.0, 2.0, 3.0, 4.0, 100.0]), 1.0)

    def test_the_better_reference_counts(self):
        references = {"a": [2.0, 2.0], "b": [4.0, 4.0]}
        self.assertEqual(compare.compare([1.0, 1.0], references, True, 2).reference, "a")
        self.assertEqual(compare.compare([1.0, 1.0], references, False, 2).reference, "b")

    def test_no_more_pairs_are_used_than_asked_for(self):
        done = compare.compare([1.0, 1.0, 9.0], {"a": [1.0, 1.0, 1.0]}, True, 2)
        self.assertEqual((done.ratio, done.pairs), (1.0, 2))

    def test_the_interval_holds_the_median_and_narrows_with_the_spread(self):
        wide = [0.5 + 0.03 * n for n in range(31)]
        narrow = [0.95 + 0.001 * n for n in range(31)]
        for values in (wide, narrow):
            low, high = compare.interval(values)
            self.assertLess(low, statistics.median(values))
            self.assertGreater(high, statistics.median(values))
            self.assertEqual((low, high), compare.interval(values))
        span = [high - low for low, high in (compare.interval(wide), compare.interval(narrow))]
        self.assertLess(span[1], span[0] / 10)

    def test_the_interval_covers_the_true_median_nineteen_times_of_twenty(self):
        import random
        chance = random.Random(5)
        inside = 0
        for _ in range(100):
            low, high = compare.interval([chance.gauss(1.0, 0.1) for _ in range(31)])
            inside += low <= 1.0 <= high
        self.assertGreaterEqual(inside, 88)
        self.assertLess(inside, 100)

    def test_few_pairs_have_no_interval(self):
        self.assertIsNone(compare.compare([1.0] * 5, {"a": [1.0] * 5}, True, 5).low)


class Verdicts(unittest.TestCase):
    def answer(self, row, **of_runs):
        summaries = {name: results.summarise(values) for name, values in of_runs.items()}
        return results.answer(row, summaries, plan.FULL)

    def test_a_ratio_at_its_limit_is_met_and_one_above_is_not(self):
        row = plan.Row("a row", ["weft"], ["asio"], at_most=0.5)
        for wall, met in ((5.0, True), (5.1, False)):
            self.assertIs(self.answer(row, weft=[report(wall)], asio=[report(10.0)])["met"], met)

    def test_throughput_is_to_be_at_least_the_limit(self):
        row = plan.Row("a row", ["weft"], ["asio"], measure="per_second", at_least=1.0)
        for of, met in ((11.0, True), (9.0, False)):
            done = self.answer(row, weft=[report(1.0, per_second=of)],
                               asio=[report(1.0, per_second=10.0)])
            self.assertIs(done["met"], met)

    def test_a_figure_without_reference_is_held_to_its_limit(self):
        row = plan.Row("a row", ["weft"], measure="bytes", at_most=400, unit="bytes")
        self.assertTrue(self.answer(row, weft=[report(1.0, bytes=400.0)])["met"])
        self.assertFalse(self.answer(row, weft=[report(1.0, bytes=401.0)])["met"])

    def test_an_absent_peer_is_named_and_nothing_is_guessed(self):
        row = plan.Row("a row", ["weft"], ["asio"], at_most=0.5)
        done = self.answer(row, weft=[report(5.0)], asio=[])
        self.assertNotIn("met", done)
        self.assertEqual(summary.verdict(done), "not run: asio absent")
        self.assertIn("| a row |", "\n".join(summary.markdown_table([{"groups": [{"rows": [done]}]}])))

    def test_of_several_references_one_suffices(self):
        row = plan.Row("a row", ["weft"], ["asio", "bare"], at_most=0.5)
        done = self.answer(row, weft=[report(5.0)], asio=[], bare=[report(10.0)])
        self.assertEqual((done["reference"], done["met"]), ("bare", True))


    def test_of_several_runs_the_best_is_measured_and_named(self):
        row = plan.Row("a row", ["one", "two"], ["asio"], at_most=0.5)
        done = self.answer(row, one=[report(8.0)], two=[report(5.0)], asio=[report(10.0)])
        self.assertEqual((done["of_run"], done["met"]), ("two", True))
        self.assertIn("| two 5.00", "\n".join(summary.markdown_table([{"groups": [{"rows": [done]}]}])))
        done = self.answer(row, one=[report(8.0)], two=[], asio=[report(10.0)])
        self.assertEqual((done["of_run"], done["met"]), ("one", False))


class Running(unittest.TestCase):
    def run_group(self, scripts, operations=None, rounds=2):
        """Runs a group of scripts, each given as the lines of Python that make it."""
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder) / "work"
            home.mkdir()
            for name, text in scripts.items():
                if text is not None:
                    (home / f"{name}.py").write_text(text)
            group = plan.Group({}, [plan.Run(name, "work", name, []) for name in scripts], [],
                               operations)
            return runs.run_group(group, runs.Programs(folder, folder), plan.FULL, rounds,
                                  lambda text: None)

    @staticmethod
    def script(operations, checksum=0):
        one = report(1.0, operations, checksum)
        return f"import json; print(json.dumps({one!r}))"

    def test_the_first_round_is_not_counted(self):
        done = self.run_group({"a": self.script(10), "b": self.script(10)}, rounds=3)
        self.assertEqual([len(done["a"]), len(done["b"])], [3, 3])

    def test_different_work_is_refused(self):
        with self.assertRaisesRegex(runs.Failure, "different work was done"):
            self.run_group({"a": self.script(10), "b": self.script(11)})
        with self.assertRaisesRegex(runs.Failure, "different work was done"):
            self.run_group({"a": self.script(10, 1), "b": self.script(10, 2)})

    def test_less_work_than_was_due_is_refused(self):
        with self.assertRaisesRegex(runs.Failure, "10 operations where 12 were due"):
            self.run_group({"a": self.script(10)}, operations=12)

    def test_a_program_that_fails_is_named(self):
        with self.assertRaisesRegex(runs.Failure, "a.py: ended with 3"):
            self.run_group({"a": "raise SystemExit(3)"})

    def test_a_program_that_reports_nothing_is_named(self):
        with self.assertRaisesRegex(runs.Failure, "a.py: reported nothing"):
            self.run_group({"a": ""})

    def test_what_is_not_built_or_cannot_run_here_has_no_reports(self):
        done = self.run_group({"a": self.script(10), "b": None, "c": "raise SystemExit(77)"})
        self.assertEqual([len(done[name]) for name in "abc"], [2, 0, 0])


class Smoke(unittest.TestCase):
    def smoke(self, scripts, listed=None):
        """What is wrong with a workload of the runs `a` and `b`, of which these scripts are there."""
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder) / "work"
            home.mkdir()
            for name, text in scripts.items():
                (home / f"{name}.py").write_text(text)
            if listed is not None:
                (pathlib.Path(folder) / "programs.txt").write_text("\n".join(listed) + "\n")
            group = plan.Group({}, [plan.Run(name, "work", name, []) for name in "ab"], [])
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                return bench.smoke([plan.Workload("work", [group])], runs.Programs(folder, folder))

    def test_a_program_that_was_listed_and_is_not_there_is_named(self):
        self.assertEqual(self.smoke({"a": Running.script(10)}, ["bench_work_a", "bench_work_b"]),
                         ["work: not there: work/b"])

    def test_a_peer_that_was_not_listed_may_be_absent(self):
        self.assertEqual(self.smoke({"a": Running.script(10)}, ["bench_work_a"]), [])

    def test_without_any_program_it_fails(self):
        for listed in (None, []):
            self.assertEqual(self.smoke({}, listed), ["work: none of its programs is there"])

    def test_a_program_may_say_that_it_cannot_run_here(self):
        unable = "raise SystemExit(77)"
        self.assertEqual(self.smoke({"a": unable, "b": unable}), [])


class Machine(unittest.TestCase):
    def test_a_processor_is_named_by_its_make(self):
        for model, name in (("AMD EPYC", "AMD EPYC"), ("AMD EPYC 7B13 64-Core Processor", "AMD EPYC 7B13"),
                            ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel Xeon")):
            self.assertEqual(machine.processor(f"model name\t: {model}\nflags\t\t: fpu sse\n"), name)
            self.assertEqual(machine.processor(f"model name\t: {model}\nflags\t\t: fpu hypervisor\n"),
                             f"{name}, virtual")

    def test_all_but_idle_and_waiting_time_is_busy(self):
        self.assertEqual(machine.busy("cpu  100 20 30 5000 400 6 7 8 9 10\n"),
                         171 / os.sysconf("SC_CLK_TCK"))

    def test_a_machine_that_was_not_quiet_is_told(self):
        quiet = [{"workload": "chain", "table": "Scheduling", "machine": "a machine",
                  "groups": [{"others": 0.05, "runs": {}, "rows": []}]}]
        self.assertNotIn("not quiet", summary.markdown(quiet, False))
        quiet[0]["groups"].append({"others": 0.4, "runs": {}, "rows": []})
        self.assertIn("chain (0.4 cores)", summary.markdown(quiet, False))


class Foreign(unittest.TestCase):
    def test_what_a_peer_prints_is_reported(self):
        with unittest.mock.patch("sys.argv", ["peer.py", "--what", "5", "--count", "10"]), \
             contextlib.redirect_stdout(io.StringIO()) as printed:
            foreign.main("channel", "peer", lambda _: (["sh", "-c", "echo 300 45 7"], "peer 1"),
                         figures={"5": "waiting_bytes"})
        said = json.loads(printed.getvalue())
        self.assertEqual((said["operations"], said["checksum"], said["ns_per_operation"]),
                         (10, 45, 30))
        self.assertEqual(said["figures"], {"waiting_bytes": 7})

    def test_an_absent_tool_ends_the_run_as_absent(self):
        with self.assertRaises(SystemExit) as ended, \
             contextlib.redirect_stderr(io.StringIO()):
            foreign.tool("weft-has-no-such-tool")
        self.assertEqual(ended.exception.code, runs.ABSENT)


if __name__ == "__main__":
    unittest.main()
