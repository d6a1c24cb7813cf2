#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# build.sh OUTPUT: PKG_CONFIG_PATH leads to weft.pc.
set -euo pipefail
read -ra flags <<<"$(pkg-config --cflags --libs weft)"
"${CXX:-g++}" "$(dirname "$0")/../main.cpp" -o "$1" "${flags[@]}"
