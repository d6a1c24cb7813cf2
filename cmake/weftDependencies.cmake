# SPDX-License-Identifier: BSL-1.0
# The libraries libweft needs. Included by weft's own build and, installed, by weftConfig.cmake, so
# that both name the same targets.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
if(NOT TARGET PkgConfig::weft_liburing)
  pkg_check_modules(weft_liburing REQUIRED IMPORTED_TARGET GLOBAL liburing>=2.3)
endif()
if(NOT TARGET PkgConfig::weft_cares)
  pkg_check_modules(weft_cares REQUIRED IMPORTED_TARGET GLOBAL libcares)
endif()
