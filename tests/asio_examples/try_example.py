#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tries one of Asio's example programs with weft: replaces the name, compiles, links and, where
runs.py knows how, runs it. With "--namespace asio" the name stays, which shows that runs.py is right
about the original."""
import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import runs


def copy_renamed(source, work, namespace):
    """Copies the example's folder with `asio` replaced. Returns the program's sources: the one given
    and those beside it that hold no main function."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    sources = []
    substitutions = runs.substitutions(work)
    for path in sorted(source.parent.iterdir()):
        if path.suffix not in (".cpp", ".hpp"):
            continue
        text = path.read_text(errors="replace")
        text = re.sub(r"\basio\b", namespace, text)
        text = re.sub(r"\bASIO_(?=[A-Z])", namespace.upper() + "_", text)
        for old, new in substitutions:
            text = text.replace(old, new)
        (work / path.name).write_text(text)
        if path.suffix == ".cpp" and (path.name == source.name or "int main(" not in text):
            sources.append(work / path.name)
    return sources


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("source", "work", "differences", "library"):
        parser.add_argument("--" + option, type=pathlib.Path, required=True)
    parser.add_argument("--name", required=True, help="FOLDER/PROGRAM, as differences.md names it")
    parser.add_argument("--compiler", required=True, help="its words, separated by semicolons")
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--link", required=True)
    parser.add_argument("--namespace", default="weft")
    arguments = parser.parse_args()

    program = arguments.work / "program"
    command = [word for word in arguments.compiler.split(";") if word]
    command += ["-std=c++20", "-O0", "-w"]
    command += [f"-I{folder}" for folder in arguments.include]
    objects = []
    output = ""
    for source in copy_renamed(arguments.source, arguments.work, arguments.namespace):
        objects.append(str(source.with_suffix(".o")))
        done = subprocess.run([*command, "-c", str(source), "-o", objects[-1]],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        output += done.stdout if done.returncode else ""

    listed = arguments.differences.exists() and re.search(
        rf"`{re.escape(arguments.name)}`", arguments.differences.read_text())
    if listed:
        if not output:
            print(f"{arguments.name} compiles; its line in docs/differences.md is out of date")
            return 1
        print(f"{arguments.name} does not compile, as docs/differences.md says")
        return 0
    if output:
        print(output)
        return 1
    subprocess.run([*command, *objects, str(arguments.library), *shlex.split(arguments.link), "-o",
                    str(program)], check=True)
    run = runs.find(arguments.name)
    if run is None:
        print("compiled and linked; not run")
        return 0
    run(program, arguments.work)
    print("compiled, linked and run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
