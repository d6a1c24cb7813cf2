# SPDX-License-Identifier: BSL-1.0
"""The results as tables: Markdown for the summary, columns for the terminal."""


def number(value):
    """Three digits or more, without an exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def measured(value, spread, unit):
    return f"{number(value)} ± {number(spread)} {unit}".rstrip()


def target(row):
    limit = row["at_most"] if row["at_most"] is not None else row["at_least"]
    if limit is None:
        return "–"
    sign = "≤" if row["at_most"] is not None else "≥"
    return f"{sign} {limit:.2f}" if row["to_runs"] else f"{sign} {number(limit)} {row['unit']}".strip()


def verdict(row):
    if "absent" in row:
        return f"not run: {', '.join(row['absent'])} absent"
    return {None: "–", True: "yes", False: "no"}[row.get("met")]


def cells(row):
    """name, weft's figure, the other's, ratio, 95 % interval, target, met"""
    if "absent" in row:
        return [row["name"], "", "", "", "", target(row), verdict(row)]
    of = measured(row["of"], row["of_spread"], row["unit"])
    if len(row["of_runs"]) > 1:
        of = f"{row['of_run']} {of}"
    if row["ratio"] is None:
        return [row["name"], of, "", "", "", target(row), verdict(row)]
    to = f"{row['reference']} {measured(row['to'], row['to_spread'], row['unit'])}"
    within = f"{row['low']:.2f}–{row['high']:.2f}" if row["low"] is not None else ""
    return [row["name"], of, to, f"{row['ratio']:.2f}", within, target(row), verdict(row)]


HEAD = ["workload", "measured", "beside", "ratio", "95 %", "target", "met"]


def rows_of(result):
    return [row for group in result["groups"] for row in group["rows"]]


def markdown_table(results):
    lines = ["| " + " | ".join(HEAD) + " |", "|---|---|---|---|---|---|---|"]
    for result in results:
        for row in rows_of(result):
            lines.append("| " + " | ".join(cells(row)) + " |")
    return lines


def peers(results):
    """What the peers said of themselves: `Asio 1.38.2`."""
    notes = {
        run["note"].split(",")[0]
        for result in results for group in result["groups"] for run in group["runs"].values()
        if run and run["note"].startswith("Asio ")
    }
    return sorted(notes)


def disturbed(results):
    """The workloads during which others kept a tenth of a core busy, and how much at the most."""
    most = {
        result["workload"]: max((group["others"] for group in result["groups"]), default=0)
        for result in results
    }
    return [f"{name} ({cores:.1f} cores)" for name, cores in most.items() if cores >= 0.1]


def most_pairs(results):
    return max((row.get("pairs", 0) for result in results for row in rows_of(result)), default=0)


def markdown(results, quick):
    """The whole summary, of the workloads' results in their order."""
    machines = sorted({result["machine"] for result in results})
    lines = [
        "# Benchmarks",
        "",
        f"Measured by `scripts/bench{' --quick' if quick else ''}` on: {'; '.join(machines)}."
        f" Peers: {', '.join(peers(results)) or 'none installed'}.",
        "",
        "All that stands in one row ran in turn, after a round that does not count. A figure is the",
        "median of its rounds, ± the median absolute deviation. The ratio is the median of the ratios",
        f"round by round; where its target is near 1, of {most_pairs(results)} pairs. The 95 %"
        " interval is a bootstrap's.",
        "Figures are of wall-clock time unless the row says otherwise.",
    ]
    noisy = disturbed(results)
    if noisy:
        lines += ["", "**The machine was not quiet**: other processes ran during parts of "
                  + ", ".join(noisy) + ". Their wall-clock figures are worth little."]
    for table in dict.fromkeys(result["table"] for result in results):
        of_table = [result for result in results if result["table"] == table]
        if any(rows_of(result) for result in of_table):
            lines += ["", f"## {table}", "", *markdown_table(of_table)]
    return "\n".join(lines) + "\n"


def terminal(result):
    """The runs and rows of one workload."""
    lines = []
    for group in result["groups"]:
        values = ", ".join(f"{name} {value}" for name, value in group["values"].items())
        lines.append(f"{result['workload']}{': ' if values else ''}{values}"
                     + (f"  (others kept {group['others']:.1f} cores busy)"
                        if group["others"] >= 0.1 else ""))
        for name, run in group["runs"].items():
            if not run:
                lines.append(f"  {name:<20} absent")
                continue
            parts = [
                f"{measure} {measured(run['medians'][measure], run['spreads'][measure], '')}"
                for measure in run["medians"]
            ]
            lines.append(f"  {name:<20} {', '.join(parts)}  [{run['note']}]")
        for row in group["rows"]:
            lines.append("    " + " | ".join(cell for cell in cells(row) if cell))
    return "\n".join(lines)
