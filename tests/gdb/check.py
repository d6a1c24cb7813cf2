#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs a program in gdb with weft.py, and looks at what that shows: check.py GDB WEFT_PY PROGRAM

Exit status: 0, 1, or 77 if this machine lets nobody trace a process.
"""
import re
import subprocess
import sys

gdb, extension, program = sys.argv[1:]
steps = [
    f"source {extension}",
    "run",
    "weft tasks",
    "weft backtrace",
    "echo the frames by themselves\\n",
    "backtrace",
]
command = [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off"]
for step in steps:
    command += ["-ex", step]
shown = subprocess.run([*command, program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=500).stdout
print(shown)
if "ptrace: Operation not permitted" in shown:
    sys.exit(77)

fibers, _, alone = shown.partition("the frames by themselves")
wanted = {
    "two fibers": len(re.findall(r"^fiber \S+ waits for .*receive", fibers, re.M)) == 4,
    "a coroutine": len(re.findall(r"^coroutine \S+ waits for .*receive", fibers, re.M)) == 1,
    "where they were spawned": "spawned by int main()" in fibers,
    "the calls of both": all(
        re.search(rf"next_number.*\n.*add_numbers \(.*how_many={n}\b", fibers) for n in (11, 22)),
    "nothing of them without being asked": "raise" in alone and "add_numbers" not in alone,
}
for what, is_there in wanted.items():
    if not is_there:
        print("missing:", what)
sys.exit(0 if all(wanted.values()) else 1)
