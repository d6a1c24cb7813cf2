# SPDX-License-Identifier: BSL-1.0
"""What is to be run: bench/workloads/NAME/rows.toml.

    table = "Scheduling"                         # where the summary shows the rows,
    order = 10                                   # and after those of smaller numbers
    numbers.handlers = [1_000_000, 100_000, 640] # full, --quick, --smoke; or one number for all

    [[group]]                                    # its runs alternate, and do the same work
    each.threads = [1, 2]                        # one group for each combination of these; an
                                                 # entry may be a table of several numbers
    operations = "{handlers}"                    # what every run must report; may be left out
    runs.weft = "weft --threads {threads} --handlers {handlers}"
    runs.asio = "asio --threads {threads} --handlers {handlers}"
    rows = [{name = "{threads} threads", of = "weft", to = "asio", at_most = 0.4}]

A run is an implementation of the workload (or OTHER/IMPLEMENTATION) with its arguments. A row
compares the run `of` with the run `to` (of each, the best of a list; without `to`, the figure itself
counts) by `measure`: "wall" (the default) or "cpu", both in nanoseconds per operation, or one of the figures
that the program reports. `at_most` or `at_least` is the target; without either, or if it is empty,
there is none. The unit printed behind the values is that in which the measure's name ends, unless
`unit` says otherwise; `scale` multiplies them. A row whose target is within 20 % of 1 is taken from 31
pairs, others from 5; `pairs` says otherwise.

A workload without rows.toml is one group of all its implementations with their default arguments.
"""

import itertools
import tomllib
from dataclasses import dataclass, field

FULL, QUICK, SMOKE = range(3)
FEW, MANY = 5, 31
QUICK_FEW, QUICK_MANY = 3, 5

# By the end of a measure's name, the longest first.
UNITS = {"_MB_per_s": "MB/s", "_per_s": "/s", "_percent": "%", "_bytes": "bytes", "_ms": "ms",
         "_us": "µs", "_ns": "ns", "wall": "ns", "cpu": "ns"}


def unit_of(measure):
    return next((unit for end, unit in UNITS.items() if measure.endswith(end)), "")


@dataclass
class Run:
    name: str
    workload: str
    implementation: str
    arguments: list

    @property
    def program(self):
        return f"{self.workload}/{self.implementation}"


@dataclass
class Row:
    name: str
    of: list
    to: list = field(default_factory=list)
    measure: str = "wall"
    at_most: float | None = None
    at_least: float | None = None
    unit: str | None = None
    scale: float = 1.0
    pairs: int = 0

    def __post_init__(self):
        if self.unit is None:
            self.unit = unit_of(self.measure)

    @property
    def limit(self):
        return self.at_most if self.at_most is not None else self.at_least

    def needs(self, size):
        """How many pairs: more where the target is near 1, and so within the noise's reach."""
        if size == SMOKE:
            return 1
        near = bool(self.to) and self.limit is not None and 0.8 <= self.limit <= 1.25
        pairs = self.pairs or (MANY if near else FEW)
        return pairs if size == FULL else QUICK_FEW if pairs <= FEW else QUICK_MANY


@dataclass
class Group:
    values: dict
    runs: list
    rows: list
    operations: int | None = None

    def rounds(self, run, size):
        """How often a run is needed: as often as the row that asks most of it."""
        least = 1 if size == SMOKE else FEW if size == FULL else QUICK_FEW
        wanted = [row.needs(size) for row in self.rows if run.name in [*row.of, *row.to]]
        return max([least, *wanted])


@dataclass
class Workload:
    name: str
    groups: list
    table: str = "Others"
    order: int = 0


def sized(value, size):
    return value[size] if isinstance(value, list) else value


def combinations(each):
    """The values of each combination of a group's lists, the last list varying fastest."""
    named = [
        [entry if isinstance(entry, dict) else {name: entry} for entry in entries]
        for name, entries in each.items()
    ]
    for chosen in itertools.product(*named):
        yield {name: value for part in chosen for name, value in part.items()}


def load(folder, size=FULL):
    """The workload of a folder in bench/workloads."""
    path = folder / "rows.toml"
    if not path.exists():
        sources = [*folder.glob("*.cpp"), *folder.glob("*.py")]
        runs = [Run(stem, folder.name, stem, []) for stem in sorted(s.stem for s in sources)]
        return Workload(folder.name, [Group({}, runs, [])])
    with open(path, "rb") as file:
        described = tomllib.load(file)
    groups = []
    for entry in described["group"]:
        for values in combinations(entry.get("each", {})):
            numbers = {**described.get("numbers", {}), **values}
            numbers = {name: sized(value, size) for name, value in numbers.items()}
            groups.append(make_group(folder.name, entry, values, numbers))
    return Workload(folder.name, groups, described["table"], described["order"])


def make_group(workload, entry, values, numbers):
    def filled(text):
        return text.format(**numbers)

    runs = []
    for name, command in entry["runs"].items():
        program, *arguments = filled(command).split()
        where, _, implementation = program.rpartition("/")
        runs.append(Run(name, where or workload, implementation, arguments))
    rows = []
    for one in entry.get("rows", []):
        sides = {side: [one[side]] if isinstance(one.get(side), str) else one.get(side, [])
                 for side in ("of", "to")}
        limits = {key: filled(str(one[key])) for key in ("at_most", "at_least") if key in one}
        limits = {key: float(text) if text else None for key, text in limits.items()}
        rows.append(
            Row(**{**one, **limits, **sides, "name": filled(one["name"])})
        )
    names = {run.name for run in runs}
    for row in rows:
        unknown = {*row.of, *row.to} - names
        if unknown:
            raise ValueError(f"{workload}: row '{row.name}' names unknown runs {sorted(unknown)}")
    operations = int(filled(entry["operations"])) if "operations" in entry else None
    values = {name: value for name, value in values.items() if not isinstance(value, list)}
    return Group(values, runs, rows, operations)
