#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Goroutines: programs/main.go."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
import foreign  # noqa: E402

foreign.main("coroutine", "go", foreign.go)
