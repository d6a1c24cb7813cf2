#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every test that docs/promises.md names beside a promise exists."""
import fnmatch
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[PF])?\(\s*(\w+)\s*,\s*(\w+)", re.MULTILINE)
PROMISE = re.compile(r"^\| (P\d+) \|.*\|([^|]*)\|$", re.MULTILINE)


def existing_tests():
    """All tests, as `suite` and as `suite.test`."""
    names = set()
    for source in (ROOT / "tests").rglob("*.cpp"):
        for suite, test in TEST.findall(source.read_text()):
            names |= {suite, f"{suite}.{test}"}
    return names


def named_tests(text):
    """The promises, each with what is named as its tests."""
    return {promise: re.findall(r"`([^`]+)`", tests) for promise, tests in PROMISE.findall(text)}


def is_there(name, tests):
    if name.startswith("tests/"):
        return (ROOT / name).exists()
    return bool(fnmatch.filter(tests, name))


class Promises(unittest.TestCase):
    def test_each_promise_has_tests_that_exist(self):
        tests = existing_tests()
        promises = named_tests((ROOT / "docs" / "promises.md").read_text())
        self.assertEqual(list(promises), [f"P{n}" for n in range(1, 14)])
        for promise, names in promises.items():
            self.assertTrue(names, promise)
            for name in names:
                self.assertTrue(is_there(name, tests), f"{promise} names {name}")

    def test_a_name_that_no_test_has_is_noticed(self):
        tests = {"timer_test", "timer_test.cancel_wins"}
        for name in ("timer_test", "timer_test.cancel_*", "tests/CMakeLists.txt"):
            self.assertTrue(is_there(name, tests), name)
        for name in ("timer", "timer.cancel_*", "timer_test.cancel", "tests/none"):
            self.assertFalse(is_there(name, tests), name)
        self.assertEqual(named_tests("| P1 | `a` **b** | `c`, `d.*` |\n"), {"P1": ["c", "d.*"]})


if __name__ == "__main__":
    unittest.main()
