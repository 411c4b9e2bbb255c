# SPDX-License-Identifier: MIT
# The dependencies of the library and the command, and the parts that are built.

# need_module(PREFIX PACKAGE OPTION MODULE): like need(), for a module of pkg-config. Without pkg-config, the module
# counts as missing.
find_package(PkgConfig QUIET)
need(PkgConfig_FOUND pkg-config)
macro(need_module prefix package option)
    if(PkgConfig_FOUND)
        pkg_check_modules(${prefix} QUIET ${ARGN})
    endif()
    need(${prefix}_FOUND ${package} ${option})
endmacro()

if(CMAKE_CXX_COMPILER_LOADED) # the search for it needs the compiler
    find_package(Threads REQUIRED)
endif()
set(parts ON)
if(IIO_STREAM_ONE_FILE)
    set(parts OFF)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(nlohmann_json QUIET)
need(nlohmann_json_FOUND nlohmann-json3-dev)
find_package(CLI11 QUIET)
need(CLI11_FOUND libcli11-dev)
need_module(LIBURING liburing-dev "" IMPORTED_TARGET liburing)

# The optional parts, which a single static file does not contain. libiio, libzmq, libcrypto and
# libcurl are loaded when they are needed.
option(WITH_LIBIIO "iio: devices of other machines (uri=), by libiio" ${parts})
option(WITH_USB "usb: endpoints, the host's end of the cable, by libusb" ${parts})
option(WITH_ZMQ "zmq: endpoints, by ZeroMQ" ${parts})
option(WITH_OPENSSL "SHA-512 by OpenSSL's libcrypto; else by libmd, which is slower" ${parts})
option(WITH_CURL "archives in object storage, by libcurl and Expat; with WITH_OPENSSL only" ${parts})
set(part_libraries ${CMAKE_DL_LIBS})
if(WITH_USB)
    need_module(LIBUSB libusb-1.0-0-dev WITH_USB IMPORTED_TARGET libusb-1.0)
    list(APPEND part_libraries PkgConfig::LIBUSB)
endif()
if(WITH_ZMQ)
    need_module(LIBZMQ libzmq3-dev WITH_ZMQ libzmq) # needs only its header: src/zmq/libzmq.cpp loads the library
endif()
if(WITH_OPENSSL) # needs only its headers: src/file/sha512/libcrypto.cpp loads the library
    find_package(OpenSSL QUIET COMPONENTS Crypto)
    need(OPENSSL_FOUND libssl-dev WITH_OPENSSL)
else()
    need_module(LIBMD libmd-dev "" IMPORTED_TARGET libmd)
    list(APPEND part_libraries PkgConfig::LIBMD)
endif()

if(WITH_CURL AND NOT WITH_OPENSSL)
    message(STATUS "WITH_CURL=OFF because WITH_OPENSSL=OFF: object stores require SHA-256 and MD5")
    set(WITH_CURL OFF)
endif()
if(WITH_CURL) # needs only their headers: src/archive/s3/libraries.cpp loads the libraries
    need_module(CURL libcurl4-openssl-dev WITH_CURL libcurl)
    need_module(EXPAT libexpat1-dev WITH_CURL expat)
endif()
