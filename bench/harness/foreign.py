# SPDX-License-Identifier: BSL-1.0
"""Peers in other languages: they are built where their tools are, and run as

    PROGRAM [ARGUMENT...] WHAT COUNT

and print nanoseconds, the checksum, and perhaps one figure more. Where a tool is absent, or cannot
reach what it needs, the run ends with ABSENT; so does a smoke run of what takes long to build, unless
another run has built it."""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

ABSENT = 77
PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"


def built_folder():
    return pathlib.Path(os.environ["WEFT_BENCH_PROGRAMS"])


def tool(name, *places):
    """Where a tool is; without it, the run ends here."""
    found = next(filter(None, map(shutil.which, (name, *places))), None)
    if not found:
        print(f"{name} is absent", file=sys.stderr)
        sys.exit(ABSENT)
    return found


def is_newer(program, sources):
    """Whether a program is there, and not older than any of its sources."""
    return program.exists() and all(
        program.stat().st_mtime >= source.stat().st_mtime for source in sources)


def go(workload):
    """The built program of workloads/WORKLOAD/programs/main.go, and what built it."""
    go_tool = tool("go", "/usr/local/go/bin/go")
    source = PEERS.parent / "workloads" / workload / "programs" / "main.go"
    program = built_folder() / f"{workload}_go"
    if not is_newer(program, [source]):
        subprocess.run([go_tool, "build", "-o", program, source], check=True)
    version = subprocess.run([go_tool, "env", "GOVERSION"], check=True, capture_output=True,
                             text=True)
    return [program], version.stdout.strip()


def tokio(workload):
    """The program of peers/tokio, which serves all workloads, and its version."""
    project = PEERS / "tokio"
    target = built_folder() / "tokio"
    program = target / "release/weft_bench_tokio"
    manifest = project / "Cargo.toml"
    sources = [manifest, *project.glob("src/*.rs")]
    if not is_newer(program, sources):
        if os.environ.get("WEFT_BENCH_SMOKE"):
            print("tokio is absent: its program is not built", file=sys.stderr)
            sys.exit(ABSENT)
        build_tokio(project, target)
    version = manifest.read_text().split('tokio = { version = "=')[1].split('"')[0]
    return [program, workload], f"tokio {version}"


def build_tokio(project, target):
    cargo = tool("cargo", pathlib.Path.home() / ".cargo/bin/cargo")
    where = ["--manifest-path", project / "Cargo.toml"]
    fetched = subprocess.run([cargo, "fetch", "--quiet", *where], check=False)
    if fetched.returncode != 0:
        print("tokio is absent: cargo cannot fetch it", file=sys.stderr)
        sys.exit(ABSENT)
    subprocess.run([cargo, "build", "--release", "--quiet", "--offline", *where,
                    "--target-dir", target], check=True)


def main(workload, implementation, peer, figures=None):
    """`figures` names the figure that the program prints, by WHAT."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--what", required=True)
    parser.add_argument("--count", default="1000000")
    arguments = parser.parse_args()
    command, version = peer(workload)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*command, arguments.what, arguments.count], check=True,
                          stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    nanoseconds, checksum, *more = (int(word) for word in done.stdout.split())
    count = int(arguments.count)
    name = (figures or {}).get(arguments.what)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({
        "workload": workload, "implementation": implementation, "note": version,
        "operations": count, "checksum": checksum, "seconds": nanoseconds / 1e9,
        "cpu_seconds": cpu, "ns_per_operation": nanoseconds / count,
        "figures": {name: more[0]} if name else {}}))
