# SPDX-License-Identifier: MIT
# The files that pip adds to the Python package: the extension and, unless an installed library is requested,
# the library and the command. Both find the library in their own folder.
if(NOT IIO_STREAM_INSTALLED)
    set(library_folder $ORIGIN)
    add_link_options(-Wl,--disable-new-dtags) # DT_RPATH, which takes precedence over LD_LIBRARY_PATH
    add_subdirectory(src)
    # The library has a different name here, so that a libiio-stream.so.0 that is already loaded does not replace it.
    set_property(TARGET iio-stream PROPERTY SOVERSION)
    set_property(TARGET iio-stream PROPERTY VERSION)
    set_target_properties(iio-stream iio-stream-command PROPERTIES INSTALL_RPATH ${library_folder})
    install(TARGETS iio-stream-command RUNTIME DESTINATION iio_stream COMPONENT wheel)
    install(TARGETS iio-stream LIBRARY DESTINATION iio_stream COMPONENT wheel
            FILE_SET HEADERS EXCLUDE_FROM_ALL)
    # pip installs these into the environment's share/.
    set(data_folder ${SKBUILD_DATA_DIR}/share)
    set(man_folder ${data_folder}/man)
    set(component COMPONENT wheel)
    include(cmake/command_files.cmake)
    set(parts iio-stream-command man-page)
else()
    include(cmake/dependencies.cmake)
    find_package(iio-stream ${PROJECT_VERSION} QUIET)
    if(NOT iio-stream_FOUND)
        message(NOTICE "iio-stream: IIO_STREAM_INSTALLED=ON, but CMake finds no installed libiio-stream ${PROJECT_VERSION}. CMAKE_PREFIX_PATH=FOLDER names another place; without IIO_STREAM_INSTALLED pip builds one.")
        message(FATAL_ERROR "")
    endif()
    set(library_folder $<TARGET_FILE_DIR:iio-stream::iio-stream>)
endif()
add_subdirectory(bindings/python)
add_custom_target(wheel DEPENDS python-core ${parts})
