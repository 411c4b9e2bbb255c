# SPDX-License-Identifier: MIT
# What pip puts beside the Python package: the extension and, unless an installed library is asked for,
# the library and the command, each of which finds the library in its own folder.
if(NOT IIO_STREAM_INSTALLED)
    set(library_folder $ORIGIN)
    add_link_options(-Wl,--disable-new-dtags) # DT_RPATH, which LD_LIBRARY_PATH does not go before
    add_subdirectory(src)
    # Its own name: a libiio-stream.so.0 that the machine has already loaded must not take its place.
    set_property(TARGET iio-stream PROPERTY SOVERSION)
    set_property(TARGET iio-stream PROPERTY VERSION)
    set_target_properties(iio-stream iio-stream-command PROPERTIES INSTALL_RPATH ${library_folder})
    install(TARGETS iio-stream-command RUNTIME DESTINATION iio_stream COMPONENT wheel)
    install(TARGETS iio-stream LIBRARY DESTINATION iio_stream COMPONENT wheel
            FILE_SET HEADERS EXCLUDE_FROM_ALL)
    set(parts iio-stream-command)
else()
    include(cmake/dependencies.cmake)
    find_package(iio-stream ${PROJECT_VERSION} QUIET)
    if(NOT iio-stream_FOUND)
        message(NOTICE "iio-stream: IIO_STREAM_INSTALLED=ON, and no libiio-stream ${PROJECT_VERSION} is installed where CMake looks. CMAKE_PREFIX_PATH=FOLDER names another place; without IIO_STREAM_INSTALLED pip builds one.")
        message(FATAL_ERROR "")
    endif()
    set(library_folder $<TARGET_FILE_DIR:iio-stream::iio-stream>)
endif()
add_subdirectory(bindings/python)
add_custom_target(wheel DEPENDS python-core ${parts})
