# SPDX-License-Identifier: MIT
# Enables the languages. Where there is no compiler CMake would say so on a page that names no package: look first,
# in the places where it does. pip sets CXX to what Python was built by, be it there or not.
if(NOT CMAKE_CXX_COMPILER) # named by the user or a toolchain, or found before
    find_program(compiler NAMES c++ CC g++ icpx clang++ NO_CACHE)
    get_filename_component(named "$ENV{CXX}" PROGRAM)
    if(NOT compiler AND NOT named)
        include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake) # which names all that is missing, and ends here
    elseif(NOT named AND NOT "$ENV{CXX}" STREQUAL "")
        message(NOTICE "iio-stream: CXX=$ENV{CXX} is not a program; CXX=${compiler} is.")
        message(FATAL_ERROR "")
    endif()
endif()
enable_language(C)
enable_language(CXX)
