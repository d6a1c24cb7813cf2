#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds a tests/compile_fail/*.cpp file to what it says: the good variant compiles, every bad one
is refused with the message it promises.

The good variant is the file as it stands; bad variant N is compiled with -DWEFT_BAD=N. For each the
file holds a comment line

    // bad N: regex

and the regex (Python's, searched in the compiler's whole output with its line breaks turned into
spaces) has to match. A file without a bad variant, a variant without such a line, and such a line
without a variant are errors.
"""
import argparse
import pathlib
import re
import subprocess
import sys


def compile_variant(arguments, bad):
    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused"]
    command += [f"-I{folder}" for folder in arguments.include]
    if bad:
        command.append(f"-DWEFT_BAD={bad}")
    command.append(str(arguments.source))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return done.returncode, done.stdout


def check(arguments):
    text = arguments.source.read_text()
    promised = {int(n): regex.strip()
                for n, regex in re.findall(r"^\s*// bad (\d+): (.+)$", text, re.MULTILINE)}
    present = {int(n) for n in re.findall(r"\bWEFT_BAD == (\d+)", text)}
    faults = []
    if not promised:
        faults.append("it has no line '// bad N: regex'")
    for n in sorted(promised.keys() ^ present):
        faults.append(f"variant {n} lacks its " + ("code" if n in promised else "line '// bad N:'"))
    status, output = compile_variant(arguments, 0)
    if status != 0:
        faults.append(f"the good variant does not compile:\n{output}")
    for n in sorted(promised.keys() & present):
        status, output = compile_variant(arguments, n)
        if status == 0:
            faults.append(f"bad variant {n} compiles")
        elif not re.search(promised[n], " ".join(output.split())):
            faults.append(f"bad variant {n} fails without '{promised[n]}':\n{output}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("source", type=pathlib.Path)
    arguments = parser.parse_args()
    faults = check(arguments)
    for fault in faults:
        print(f"{arguments.source.name}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
