#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Counts weft's own lines behind its headers, as scripts/check_lines does."""

import json
import pathlib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def main():
    loader = SourceFileLoader("check_lines", str(ROOT / "scripts" / "check_lines"))
    check_lines = module_from_spec(spec_from_loader("check_lines", loader))
    loader.exec_module(check_lines)
    lines = {header: check_lines.own_lines(ROOT, header) for header in check_lines.BUDGET}
    print(json.dumps({
        "workload": "header_lines", "implementation": "count", "note": "scripts/check_lines",
        "operations": len(lines), "checksum": 0, "seconds": 0, "cpu_seconds": 0,
        "ns_per_operation": 0, "figures": lines}))


if __name__ == "__main__":
    main()
