# SPDX-License-Identifier: MIT
# What the library and the command need of the machine, by the names of Debian's packages. What is missing
# is named all at once, in one line: `pip install .` shows it as its last.
set(missing_packages)
set(parts ON)
if(IIO_STREAM_ONE_FILE)
    set(parts OFF)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(Threads REQUIRED)

# need(FOUND PACKAGE): PACKAGE is missing unless FOUND is true.
macro(need found package)
    if(NOT ${found})
        list(APPEND missing_packages ${package})
    endif()
endmacro()

# need_module(PREFIX PACKAGE MODULE): by pkg-config, without which it is missing too.
find_package(PkgConfig QUIET)
need(PkgConfig_FOUND pkg-config)
macro(need_module prefix package)
    if(PkgConfig_FOUND)
        pkg_check_modules(${prefix} QUIET ${ARGN})
    endif()
    need(${prefix}_FOUND ${package})
endmacro()

find_package(nlohmann_json QUIET)
need(nlohmann_json_FOUND nlohmann-json3-dev)
find_package(CLI11 QUIET)
need(CLI11_FOUND libcli11-dev)
need_module(LIBURING liburing-dev IMPORTED_TARGET liburing)

# The optional parts, which one static file goes without. libiio, libzmq and libcurl are
# loaded when they are wanted.
option(WITH_LIBIIO "iio: devices of other machines (uri=), by libiio" ${parts})
option(WITH_USB "usb: endpoints, the host's end of the cable, by libusb" ${parts})
option(WITH_ZMQ "zmq: endpoints, by ZeroMQ" ${parts})
option(WITH_OPENSSL "SHA-512 by OpenSSL's libcrypto; else by our own, which is slower" ${parts})
option(WITH_CURL "archives in object storage, by libcurl and Expat; with WITH_OPENSSL only" ${parts})
set(part_libraries ${CMAKE_DL_LIBS})
if(WITH_USB)
    need_module(LIBUSB libusb-1.0-0-dev IMPORTED_TARGET libusb-1.0)
    list(APPEND part_libraries PkgConfig::LIBUSB)
endif()
if(WITH_ZMQ)
    need_module(LIBZMQ libzmq3-dev libzmq) # its header alone: src/zmq/libzmq.cpp
endif()
if(WITH_OPENSSL)
    find_package(OpenSSL QUIET COMPONENTS Crypto)
    need(OPENSSL_FOUND libssl-dev)
    list(APPEND part_libraries OpenSSL::Crypto)
endif()

if(WITH_CURL AND NOT WITH_OPENSSL)
    message(STATUS "WITH_CURL=OFF, as WITH_OPENSSL is: a store wants SHA-256 and MD5")
    set(WITH_CURL OFF)
endif()
if(WITH_CURL) # their headers alone: src/archive/libraries.cpp
    need_module(CURL libcurl4-openssl-dev libcurl)
    need_module(EXPAT libexpat1-dev expat)
endif()

if(missing_packages)
    list(JOIN missing_packages " " names)
    set(way_out "Install them with: sudo apt install ${names}")
    if(names MATCHES "libusb|libzmq|libssl|libcurl|libexpat")
        set(way_out "Leave parts out (-DWITH_USB=OFF -DWITH_ZMQ=OFF -DWITH_OPENSSL=OFF -DWITH_CURL=OFF), or install them with: sudo apt install ${names}")
    endif()
    # NOTICE and then an error without words: CMake would break the line.
    message(NOTICE "iio-stream: headers or tools are missing. ${way_out}")
    message(FATAL_ERROR "")
endif()
