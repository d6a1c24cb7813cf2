# SPDX-License-Identifier: BSL-1.0
"""What the benchmarks ran on, without the machine's name, and whether it was quiet."""

import os
import platform
import re
import resource
import subprocess
import time


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


def busy(stat):
    """Seconds of processor time that anybody has used, from /proc/stat; what the host took for
    others (steal) counts too."""
    user, nice, system, _, _, irq, softirq, steal = map(int, stat.split(maxsplit=9)[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Others:
    """How many cores were busy with anything but the children of this process."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        with open("/proc/stat", encoding="utf-8") as file:
            used = busy(file.readline())
        mine = sum(sum(resource.getrusage(who)[:2])
                   for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
        return time.monotonic(), used - mine

    def cores(self):
        elapsed, used = (now - then for now, then in zip(self.now(), self.start))
        return max(0.0, used / elapsed) if elapsed else 0.0
