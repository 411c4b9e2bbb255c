# SPDX-License-Identifier: MIT
# The files that `cmake --install` installs: library, headers, command, man page, completions, and the files for
# find_package(iio-stream), which defines iio-stream::iio-stream, and for pkg-config.
include(CMakePackageConfigHelpers)

# The command finds the library with any prefix. Distributions disable this with CMAKE_SKIP_INSTALL_RPATH.
set_target_properties(iio-stream-command PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/iio-stream)
install(TARGETS iio-stream EXPORT iio-stream-targets FILE_SET HEADERS)
install(TARGETS iio-stream-command)
install(EXPORT iio-stream-targets NAMESPACE iio-stream:: DESTINATION ${package_dir})

# While the major version is 0, each minor version may break compatibility.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/iio-stream-config-version.cmake
    COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/iio-stream-config.cmake.in
    ${PROJECT_BINARY_DIR}/iio-stream-config.cmake INSTALL_DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/iio-stream-config.cmake
              ${PROJECT_BINARY_DIR}/iio-stream-config-version.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/iio-stream.pc.in ${PROJECT_BINARY_DIR}/iio-stream.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/iio-stream.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(data_folder ${CMAKE_INSTALL_DATADIR})
set(man_folder ${CMAKE_INSTALL_MANDIR})
include(cmake/command_files.cmake)

# Units for boards that stream after boot, and rules for users other than root.
install(CODE "set(bin_folder \"${CMAKE_INSTALL_BINDIR}\")
set(sources \"${PROJECT_SOURCE_DIR}/packaging\")
set(written \"${PROJECT_BINARY_DIR}\")
set(units iio-stream-gadget.service iio-stream@.service)")
install(SCRIPT cmake/units.cmake)
install(FILES packaging/70-iio-stream.rules DESTINATION lib/udev/rules.d)
install(FILES packaging/sysusers.conf DESTINATION lib/sysusers.d RENAME iio-stream.conf)
