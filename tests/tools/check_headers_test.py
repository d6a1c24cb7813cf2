#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""scripts/check_headers and scripts/check_lines accept what is in order and refuse what is not."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).parent.parent.parent / "scripts"
CXX = os.environ.get("CXX", "g++")


class CheckHeaders(unittest.TestCase):
    def run_check(self, command, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / "include" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, SCRIPTS / command[0], *command[1:], folder],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_accepts_headers_that_compile_alone(self):
        status, output = self.run_check(["check_headers", CXX], {
            "weft/base/a.hpp": "#pragma once\n#include <cstddef>\ninline std::size_t a;\n",
            "weft/base/b.hpp": "#pragma once\n",
            "weft/few.hpp": "#pragma once\n#include <weft/base/b.hpp>\n",
            "weft.hpp": "#pragma once\n#include <weft/base/a.hpp>\n"})
        self.assertEqual(status, 0, output)

    def test_refuses_a_header_that_every_umbrella_leaves_out(self):
        status, output = self.run_check(["check_headers", CXX], {
            "weft/base/a.hpp": "#pragma once\n", "weft.hpp": "#pragma once\n"})
        self.assertEqual(status, 1)
        self.assertIn("include/weft/base/a.hpp is included by no umbrella", output)

    def test_refuses_a_header_that_leans_on_another(self):
        status, output = self.run_check(["check_headers", CXX], {
            "weft/a.hpp": "#pragma once\nusing number = int;\n",
            "weft/b.hpp": "#pragma once\ninline number b;\n"})
        self.assertEqual(status, 1)
        self.assertIn("include/weft/b.hpp does not compile alone", output)

    def test_counts_own_lines_that_are_not_blank_and_no_others(self):
        status, output = self.run_check(["check_lines"], {
            "weft.hpp": "#pragma once\n#include <vector>\n#include <weft/net/tcp.hpp>\n\nint a;\n",
            "weft/net/tcp.hpp": "#pragma once\nint b;\n// c\nint d;\n"})
        self.assertEqual(status, 0, output)
        self.assertIn(" 3 behind <weft.hpp>", output)
        self.assertIn(" 2 behind <weft/net/tcp.hpp>", output)

    def test_refuses_too_many_lines_and_missing_headers(self):
        status, _ = self.run_check(["check_lines"], {
            "weft.hpp": "", "weft/net/tcp.hpp": "int f();\n" * 10001})
        self.assertEqual(status, 1)
        status, _ = self.run_check(["check_lines"], {"weft.hpp": ""})
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
