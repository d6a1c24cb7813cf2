#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""run_example.py accepts the expected output and refuses any other."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).parent / "run_example.py"


class RunExample(unittest.TestCase):
    def run_script(self, script, expected, files=(), timeout="20"):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text("#!/bin/sh\n" + script + "\n")
            program.chmod(0o755)
            if expected is not None:
                (pathlib.Path(folder) / "case.expected").write_text(expected)
            for name, text in files:
                (pathlib.Path(folder) / name).write_text(text)
            done = subprocess.run([sys.executable, RUN, "--timeout", timeout, "--expected",
                                   pathlib.Path(folder) / "case.expected", program],
                                  capture_output=True, text=True, check=False)
            return done.returncode

    def test_accepts_exact_lines(self):
        self.assertEqual(self.run_script("echo a.b; echo c", "a.b\nc\n"), 0)

    def test_refuses_a_differing_missing_or_additional_line(self):
        self.assertEqual(self.run_script("echo axb; echo c", "a.b\nc\n"), 1)
        self.assertEqual(self.run_script("echo a.b", "a.b\nc\n"), 1)
        self.assertEqual(self.run_script("echo a.b; echo c; echo d", "a.b\nc\n"), 1)

    def test_matches_a_regex_against_a_whole_line(self):
        self.assertEqual(self.run_script("echo port 1234", "/port \\d+/\n"), 0)
        self.assertEqual(self.run_script("echo port 1234x", "/port \\d+/\n"), 1)

    def test_dots_stand_for_any_number_of_lines(self):
        self.assertEqual(self.run_script("echo a; echo b; echo b; echo c", "a\n...\nb\nc\n"), 0)
        self.assertEqual(self.run_script("echo a; echo c", "a\n...\nc\n"), 0)
        self.assertEqual(self.run_script("echo a; echo c", "a\n...\nd\n"), 1)

    def test_refuses_a_failing_program_an_endless_one_and_missing_expectations(self):
        self.assertEqual(self.run_script("echo a; exit 3", "a\n"), 1)
        self.assertEqual(self.run_script("echo a; exec sleep 60", "a\n", timeout="0.2"), 1)
        self.assertEqual(self.run_script("echo a", None), 1)

    def test_passes_arguments_and_input(self):
        self.assertEqual(self.run_script('echo "$1,$2"; cat', "x y,z\nin\n",
                                         [("case.args", "x y\nz\n"), ("case.input", "in\n")]), 0)


if __name__ == "__main__":
    unittest.main()
