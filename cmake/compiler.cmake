# SPDX-License-Identifier: MIT
# Enables the languages. Without a compiler, CMake would print a long error that names no package, so this file first looks
# for one in the same places. pip sets CXX to the compiler with which Python was built, whether it is installed or not.
if(NOT CMAKE_CXX_COMPILER) # named by the user or a toolchain, or found before
    find_program(compiler NAMES c++ CC g++ icpx clang++ NO_CACHE)
    get_filename_component(named "$ENV{CXX}" PROGRAM)
    if(NOT compiler AND NOT named)
        include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake) # reports all missing packages and ends the run
    elseif(NOT named AND NOT "$ENV{CXX}" STREQUAL "")
        message(NOTICE "iio-stream: CXX=$ENV{CXX} is not a program; CXX=${compiler} is.")
        message(FATAL_ERROR "")
    endif()
endif()
enable_language(C)
enable_language(CXX)
