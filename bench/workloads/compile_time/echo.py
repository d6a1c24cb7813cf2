#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles programs/echo.cpp for one library: echo.py weft|asio -O2

Prints the line of JSON that every benchmark prints; ends with 77 where Asio is absent."""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent


def asio():
    """The folder of the Asio that the benchmarks were built with, and its version."""
    known = pathlib.Path(os.environ["WEFT_BENCH_PROGRAMS"]) / "asio.txt"
    folder = pathlib.Path(known.read_text().strip()) if known.exists() else None
    if not folder or not (folder / "asio.hpp").exists():
        return None, None
    version = int(re.search(r"#define ASIO_VERSION (\d+)",
                            (folder / "asio" / "version.hpp").read_text()).group(1))
    return folder, f"Asio {version // 100000}.{version // 100 % 1000}.{version % 100}"


def main():
    library, optimisation = sys.argv[1:]
    folder, note = (ROOT / "include", "weft") if library == "weft" else asio()
    if not folder:
        sys.exit(77)
    command = [os.environ.get("CXX", "g++"), "-std=c++20", optimisation, f"-isystem{folder}",
               f"-DBENCH_HEADER=<{library}.hpp>", f"-DBENCH_NAMESPACE={library}",
               "-c", str(HERE / "programs" / "echo.cpp"), "-o", "/dev/null"]
    start = time.monotonic()
    subprocess.run(command, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
    seconds = time.monotonic() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({
        "workload": "compile_time", "implementation": library, "note": f"{note}, {optimisation}",
        "operations": 1, "checksum": 0, "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime, "ns_per_operation": seconds * 1e9,
        "figures": {}}))


if __name__ == "__main__":
    main()
