# SPDX-License-Identifier: BSL-1.0
# cmake --install: the library, its headers, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

set(weft_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(TARGETS weft EXPORT weftTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(EXISTS "${PROJECT_SOURCE_DIR}/compat/include")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/compat/include/"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION "${weft_package_folder}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/weftConfig.cmake" INSTALL_DESTINATION "${weft_package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/weftConfig.cmake"
  "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/weftDependencies.cmake"
  DESTINATION "${weft_package_folder}")
install(FILES "${PROJECT_SOURCE_DIR}/gdb/weft.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/weft")

# A shared libweft carries its own dependencies; a static one passes them on to whoever links it.
if(BUILD_SHARED_LIBS)
  set(weft_pc_requires "Requires.private: liburing >= 2.3, libcares")
  set(weft_pc_libs "-lweft")
else()
  set(weft_pc_requires "Requires: liburing >= 2.3, libcares")
  set(weft_pc_libs "-lweft -pthread")
endif()
# From the folder of weft.pc to the prefix, so that the installed tree can be moved.
file(RELATIVE_PATH weft_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
