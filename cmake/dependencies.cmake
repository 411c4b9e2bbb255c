# SPDX-License-Identifier: MIT
# What the library and the command need of the machine, by the names of Debian's packages. What is missing
# is named all at once, in one line: `pip install .` shows it as its last.
set(missing_packages)
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "iio-stream: pkg-config is missing. Install it with: sudo apt install pkg-config")
endif()

# need(FOUND PACKAGE): PACKAGE is missing unless FOUND is true.
macro(need found package)
    if(NOT ${found})
        list(APPEND missing_packages ${package})
    endif()
endmacro()

find_package(nlohmann_json QUIET)
need(nlohmann_json_FOUND nlohmann-json3-dev)
find_package(CLI11 QUIET)
need(CLI11_FOUND libcli11-dev)
find_package(OpenSSL QUIET COMPONENTS Crypto)
need(OPENSSL_FOUND libssl-dev)
pkg_check_modules(LIBIIO QUIET IMPORTED_TARGET libiio<1)
need(LIBIIO_FOUND libiio-dev)
pkg_check_modules(LIBURING QUIET IMPORTED_TARGET liburing)
need(LIBURING_FOUND liburing-dev)
pkg_check_modules(LIBUSB QUIET IMPORTED_TARGET libusb-1.0)
need(LIBUSB_FOUND libusb-1.0-0-dev)
pkg_check_modules(LIBZMQ QUIET IMPORTED_TARGET libzmq)
need(LIBZMQ_FOUND libzmq3-dev)

if(missing_packages)
    list(JOIN missing_packages " " names)
    # NOTICE and then an error without words: CMake would break the line.
    message(NOTICE "iio-stream: headers are missing. Install them with: sudo apt install ${names}")
    message(FATAL_ERROR "")
endif()
