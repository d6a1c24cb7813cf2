#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tasks of tokio: bench/peers/tokio."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
import foreign  # noqa: E402

foreign.main("coroutine", "tokio", foreign.tokio)
