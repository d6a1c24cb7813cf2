# SPDX-License-Identifier: BSL-1.0
# What can be chosen when weft is configured, and weft_develop(), which holds the project's own
# targets to the development rules. Nothing here reaches a target that merely links weft::weft.

option(BUILD_SHARED_LIBS "Build libweft.so instead of libweft.a" OFF)
option(WEFT_DEVELOPMENT "Treat warnings as errors, link with mold" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_TRY_ASIO_EXAMPLES "Try Asio's example programs as tests (libasio-doc)" OFF)
option(WEFT_BUILD_EXAMPLES "Build the examples (run as tests when tests are built)"
       ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_DEMO "Build weft-demo" ${PROJECT_IS_TOP_LEVEL})
option(WEFT_BUILD_BENCH "Build the benchmarks" OFF)
set(WEFT_SANITIZE "" CACHE STRING "address (with undefined behaviour), thread, or empty")
set_property(CACHE WEFT_SANITIZE PROPERTY STRINGS "" address thread)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

# The whole program has to be instrumented alike, so these are set for the directory, not a target.
if(WEFT_SANITIZE STREQUAL "address")
  # The check of vtable pointers opens a pipe, and misjudges them where a test has left it none.
  set(weft_sanitizer -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
elseif(WEFT_SANITIZE STREQUAL "thread")
  set(weft_sanitizer -fsanitize=thread)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # The static runtime's operators new would come before those that tests have instead.
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-resource-dir OUTPUT_VARIABLE weft_clang
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    add_link_options(-shared-libsan "-Wl,-rpath,${weft_clang}/lib/linux")
  endif()
elseif(WEFT_SANITIZE)
  message(FATAL_ERROR "WEFT_SANITIZE is '${WEFT_SANITIZE}'; it may be address, thread or empty")
endif()
if(WEFT_SANITIZE)
  add_compile_options(${weft_sanitizer} -fno-omit-frame-pointer)
  add_link_options(${weft_sanitizer})
endif()

find_program(WEFT_MOLD mold)
mark_as_advanced(WEFT_MOLD)

# weft_develop(target): warnings are errors; links fast where the faster linker is installed.
function(weft_develop target)
  if(NOT WEFT_DEVELOPMENT)
    return()
  endif()
  # g++ 12 warns of overlaps in std::string that are none (GCC PR 105329, 105651), of overflows where
  # the sentinel of an intrusive list is mistaken for an element, and of uninitialised members where
  # a union holds a value or none (GCC PR 105562).
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Werror
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-maybe-uninitialized>")
  if(WEFT_MOLD)
    target_link_options(${target} PRIVATE -fuse-ld=mold)
  endif()
endfunction()

# weft_program(target sources...): an executable of this project that uses the library.
function(weft_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE weft::weft)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  weft_develop(${target})
endfunction()
