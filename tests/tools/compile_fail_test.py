#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""compile_fail.py accepts a file that keeps its word and refuses one that does not."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent / "compile_fail.py"
GOOD = """
// bad 1: (invalid conversion|cannot initialize)
int f() {
#if WEFT_BAD == 1
  int* p = 7;
  return *p;
#else
  return 7;
#endif
}
"""


class CompileFail(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "case.cpp"
            source.write_text(text)
            done = subprocess.run([sys.executable, CHECK, "--compiler", os.environ.get("CXX", "c++"),
                                   source], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def refuses(self, text, message):
        status, output = self.check(text)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_accepts_a_bad_variant_that_fails_as_promised(self):
        status, output = self.check(GOOD)
        self.assertEqual(status, 0, output)

    def test_refuses_a_bad_variant_that_compiles(self):
        self.refuses(GOOD.replace("int* p = 7", "int x = 7, *p = &x"), "bad variant 1 compiles")

    def test_refuses_a_bad_variant_that_fails_otherwise(self):
        self.refuses(GOOD.replace("bad 1: (", "bad 1: (no such )("), "fails without")

    def test_refuses_a_good_variant_that_does_not_compile(self):
        self.refuses(GOOD.replace("return 7", "return oops"), "the good variant does not compile")

    def test_refuses_promises_without_code_and_code_without_promises(self):
        self.refuses(GOOD + "// bad 2: x\n", "variant 2 lacks its code")
        self.refuses(GOOD + "#if WEFT_BAD == 3\n#endif\n", "variant 3 lacks its line")
        self.refuses("int x;\n", "has no line")


if __name__ == "__main__":
    unittest.main()
