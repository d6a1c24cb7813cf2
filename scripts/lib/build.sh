# SPDX-License-Identifier: BSL-1.0
# Configure, build and test one preset of CMakePresets.json. Expects to be in the project's root.

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# How many jobs: the cores, but no more than one per GiB of free memory. WEFT_JOBS overrides.
weft_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo "${WEFT_JOBS:-$((cores < memory ? cores : memory))}"
}

# weft_configure PRESET [CMAKE ARGUMENT...]
weft_configure() {
  local preset=$1
  shift
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  local cache=build/$preset/CMakeCache.txt compiler='^CMAKE_CXX_COMPILER:' before=
  [[ -e $cache ]] && before=$(grep "$compiler" "$cache")
  cmake --preset "$preset" --log-level=WARNING "$@"
  # Where the compiler is another, CMake has dropped what else the preset says.
  if [[ $before && $(grep "$compiler" "$cache") != "$before" ]]; then
    cmake --preset "$preset" --log-level=WARNING "$@"
  fi
}

# weft_build PRESET [TARGET...]: goes on after an error, so that all are seen.
weft_build() {
  local preset=$1
  shift
  cmake --build "build/$preset" --parallel "$(weft_jobs)" ${1:+--target "$@"} -- -k 0
}

# weft_test PRESET [CTEST ARGUMENT...]: runs the tests, a core each; the last line is ctest's
# closing one ("100% tests passed, 0 tests failed out of N"), also where ctest lists skipped or
# failed tests after it.
weft_test() {
  local preset=$1 log status=0
  shift
  log=build/$preset/ctest.log
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel "$(weft_jobs)" "$@" 2>&1 | tee "$log" || status=$?
  grep -E '^[0-9]+% tests passed' "$log" || true
  return "$status"
}
