# SPDX-License-Identifier: BSL-1.0
"""What the benchmarks ran on, without the machine's name."""

import os
import platform
import re
import subprocess


def compiler():
    """The compiler as `g++ 12.2`."""
    name = os.path.basename(os.environ.get("CXX", "g++"))
    try:
        version = subprocess.run([name, "-dumpfullversion", "-dumpversion"], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return name
    return f"{name} {'.'.join(version.split('.')[:2])}"


def processor(cpuinfo):
    """The processor's make, and whether it is a virtual one, from /proc/cpuinfo."""
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    name = model.group(1) if model else platform.machine()
    name = re.sub(r"\((R|TM)\)|@.*|\bProcessor\b|\bCPU\b|\d+-Core", "", name, flags=re.IGNORECASE)
    name = " ".join(name.split())
    flags = re.search(r"^flags\s*: (.*)$", cpuinfo, re.MULTILINE)
    virtual = bool(flags) and "hypervisor" in flags.group(1).split()
    return name + (", virtual" if virtual else "")


def describe():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = processor(file.read())
    cores = len(os.sched_getaffinity(0))
    linux = ".".join(platform.release().split("-")[0].split(".")[:2])
    return f"{cores} core{'s' if cores > 1 else ''}, {cpu}, Linux {linux}, {compiler()}"
