# SPDX-License-Identifier: BSL-1.0
"""Pictures of the results, as SVG."""

import logging

FEEDS = {"prefilled": "queued beforehand", "producer": "queued by another thread",
         "chain": "handlers that post the next"}
LINES = {"asio_pool": ("Asio, one context", "#d62728", "--"),
         "weft_pool": ("weft, one context", "#1f4e9c", "--"),
         "asio_each": ("Asio, a context per thread", "#ff9896", "-"),
         "weft_each": ("weft, a context per thread", "#7fb0e6", "-"),
         "asio_half": ("Asio, half-sync/half-async, one more for I/O", "#e8871e", ":"),
         "weft_half": ("weft, half-sync/half-async, one more for I/O", "#2a9d8f", ":")}


def pyplot():
    """matplotlib, set up to write the same file for the same figures; None where it is absent."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "weft", "svg.fonttype": "none", "font.size": 9,
                                "axes.spines.top": False, "axes.spines.right": False})
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    from matplotlib import pyplot as plot
    return plot


def save(plot, figure, path):
    figure.savefig(path, format="svg", metadata={"Date": None})
    plot.close(figure)


def model_points(result):
    """{(turns, run): {threads: nanoseconds per handler}} of a workload that has the models."""
    measure = "run_ns" if result["workload"] == "prefilled" else "wall"
    points = {}
    for group in result["groups"]:
        if not {"turns", "threads"} <= group["values"].keys():
            continue
        for name, run in group["runs"].items():
            if run and name in LINES:
                of_run = points.setdefault((group["values"]["turns"], name), {})
                of_run[group["values"]["threads"]] = run["medians"][measure]
    return points


def models(results, path):
    """The matrix: how handlers come (rows) x how long they work (columns), over threads."""
    plot = pyplot()
    feeds = {r["workload"]: points for r in results
             if r["workload"] in FEEDS and (points := model_points(r))}
    if not plot or not feeds:
        return False
    turns = sorted({turn for points in feeds.values() for turn, _ in points})
    figure, axes = plot.subplots(len(feeds), len(turns), squeeze=False, sharex=True,
                                 figsize=(3.1 * len(turns), 2.3 * len(feeds) + 0.9))
    handles = {}
    for row, (workload, points) in enumerate(feeds.items()):
        for column, turn in enumerate(turns):
            axis = axes[row][column]
            for name, (label, colour, style) in LINES.items():
                line = sorted(points.get((turn, name), {}).items())
                if line:
                    handles[label], = axis.plot(*zip(*line), style, color=colour, marker="o",
                                                markersize=3)
            axis.set_xscale("log", base=2)
            threads = sorted({t for (of, _), line in points.items() if of == turn for t in line})
            axis.set_xticks(threads, [str(t) for t in threads])
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
            if row == 0:
                axis.set_title("empty handlers" if turn == 0 else f"loops of {turn:,} turns")
            if column == 0:
                axis.set_ylabel(f"{FEEDS[workload]}\nns per handler")
            if row == len(feeds) - 1:
                axis.set_xlabel("threads")
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=3, frameon=False)
    figure.suptitle(results[0]["machine"], fontsize=8, color="#555555", y=0.995)
    figure.tight_layout(rect=(0, 0.07, 1, 0.99))
    save(plot, figure, path)
    return True


def ratios(results, path):
    """Each row's ratio beside its target."""
    plot = pyplot()
    rows = [row for result in results for group in result["groups"] for row in group["rows"]
            if row.get("ratio") is not None]
    if not plot or not rows:
        return False
    figure, axis = plot.subplots(figsize=(10, 0.24 * len(rows) + 1.2))
    for place, row in enumerate(rows):
        limit = row["at_most"] if row["at_most"] is not None else row["at_least"]
        colour = {True: "#2a7f3f", False: "#c0392b"}.get(row.get("met"), "#555555")
        if row["low"] is not None:
            axis.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1)
        axis.plot(row["ratio"], place, "o", color=colour, markersize=4)
        if limit is not None:
            axis.plot(limit, place, "|", color="black", markersize=9)
    axis.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=7)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.axvline(1, color="#bbbbbb", linewidth=0.8, zorder=0)
    axis.set_xlabel("ratio (dot) and target (bar); at most, or at least where throughput counts")
    figure.tight_layout()
    save(plot, figure, path)
    return True
