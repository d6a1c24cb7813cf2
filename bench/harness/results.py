# SPDX-License-Identifier: BSL-1.0
"""The results of a workload as they are kept in JSON, and how they answer its rows."""

import json
import statistics
from dataclasses import asdict

from compare import best, compare, spread
from runs import value


def summarise(reports):
    """Medians and spread of a run's figures."""
    if not reports:
        return None
    measures = ["wall", "cpu", *reports[0]["figures"]]
    return {
        "note": reports[0]["note"],
        "rounds": len(reports),
        "values": {m: [value(one, m) for one in reports] for m in measures},
        "medians": {m: statistics.median(value(one, m) for one in reports) for m in measures},
        "spreads": {m: spread([value(one, m) for one in reports]) for m in measures},
    }


def answer(row, runs, size):
    """A row of the summary: its figures, ratio and verdict, or which runs are absent."""
    out = {"name": row.name, "of_runs": row.of, "to_runs": row.to, "unit": row.unit,
           "measure": row.measure, "at_most": row.at_most, "at_least": row.at_least}

    def scaled(names):
        return {name: [v * row.scale for v in runs[name]["values"][row.measure]]
                for name in names if runs[name]}

    candidates, references = scaled(row.of), scaled(row.to)
    if not candidates or (row.to and not references):
        out["absent"] = [name for name in [*row.of, *row.to] if not runs[name]]
        return out
    lower = row.at_least is None
    out["of_run"] = best(candidates, lower)
    done = compare(candidates[out["of_run"]], references, lower, row.needs(size))
    out.update(asdict(done))
    counted = done.ratio if row.to else done.of
    if row.limit is not None:
        out["met"] = counted <= row.limit if lower else counted >= row.limit
    return out


def group_result(group, reports, size, others):
    """What came of a group, while other processes kept so many cores busy."""
    runs = {name: summarise(of_run) for name, of_run in reports.items()}
    return {
        "values": group.values,
        "others": round(others, 3),
        "runs": runs,
        "rows": [answer(row, runs, size) for row in group.rows],
    }


def store(folder, workload, machine, groups):
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"workload": workload.name, "table": workload.table, "order": workload.order,
            "machine": machine, "groups": groups}
    (folder / f"{workload.name}.json").write_text(json.dumps(kept, indent=1) + "\n")
    return kept


def stored(folder, name):
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None
