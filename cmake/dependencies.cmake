# SPDX-License-Identifier: MIT
# Checks the packages that a build needs, by their names in Debian. All missing packages are reported at once, in one
# line, which is the last line that `pip install .` prints.
set(missing_packages)
set(avoidable)

# need(FOUND PACKAGE [OPTION]): PACKAGE is missing unless FOUND is true. With OPTION=OFF it is not needed.
macro(need found package)
    if(NOT ${found})
        list(APPEND missing_packages ${package})
        list(APPEND avoidable ${ARGN})
    endif()
endmacro()

need(CMAKE_CXX_COMPILER_LOADED g++)
if(NOT (SKBUILD AND IIO_STREAM_INSTALLED))
    include(${CMAKE_CURRENT_LIST_DIR}/parts.cmake)
endif()
if(IIO_STREAM_PYTHON_BINDINGS AND NOT IIO_STREAM_ONE_FILE)
    if(NOT SKBUILD)
        # The default is Debian's Python, even if another python3 comes first in the PATH, because GNU Radio requires
        # it.
        set(IIO_STREAM_PYTHON /usr/bin/python3 CACHE FILEPATH "the interpreter to build the bindings for")
        set(Python_EXECUTABLE ${IIO_STREAM_PYTHON})
        set(bindings IIO_STREAM_PYTHON_BINDINGS)
    endif()
    # pip sets the folder even if it has no headers. FindPython would then fail with a long error.
    if(NOT Python_INCLUDE_DIR OR EXISTS ${Python_INCLUDE_DIR}/Python.h)
        find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
    endif()
    need(Python_FOUND python3-dev ${bindings})
    if(Python_FOUND)
        find_package(pybind11 2.10 QUIET CONFIG)
    endif()
    if(Python_FOUND OR NOT SKBUILD) # pip installs it itself
        need(pybind11_FOUND pybind11-dev ${bindings})
    endif()
endif()

if(missing_packages)
    list(JOIN missing_packages " " names)
    set(way_out "Install them with: sudo apt install ${names}")
    if(avoidable)
        list(REMOVE_DUPLICATES avoidable)
        list(TRANSFORM avoidable REPLACE "(.+)" "-D\\1=OFF")
        list(JOIN avoidable " " options)
        if(SKBUILD)
            string(REPLACE -D "--config-settings cmake.define." options "${options}")
        endif()
        set(way_out "Leave parts out (${options}), or install them with: sudo apt install ${names}")
    endif()
    # The text is a NOTICE, followed by an empty error, because CMake would wrap the text of an error.
    message(NOTICE "iio-stream: headers or tools are missing. ${way_out}")
    message(FATAL_ERROR "")
endif()
