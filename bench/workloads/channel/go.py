#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Channels of goroutines: programs/main.go."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
import foreign  # noqa: E402

foreign.main("channel", "go", foreign.go, figures={"5": "waiting_bytes"})
