# SPDX-License-Identifier: MIT
SUMMARY = "Streams samples between IIO converters, files, USB and programs without copies"
DESCRIPTION = "Streams samples between Linux IIO converters (ADCs and DACs behind an AXI-DMAC), files, USB and \
programs without the CPU copying a sample, and accounts for the samples that are lost."
SECTION = "console/utils"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=74093ace5ca25d0708346b167ccacdad"

# The source tree that contains this layer.
inherit externalsrc
EXTERNALSRC = "${@os.path.realpath(d.expand('${THISDIR}/../../../..'))}"
PV = "${@open(d.expand('${EXTERNALSRC}/src/include/iio_stream/api.hpp')).read().split('kVersion = \"')[1].split('\"')[0]}"

inherit cmake pkgconfig systemd
# liburing, cli11 and nlohmann-json come from meta-openembedded.
DEPENDS = "liburing cli11 nlohmann-json"
# libmd computes SHA-512 in a build without OpenSSL.
DEPENDS += "${@bb.utils.contains('PACKAGECONFIG', 'openssl', '', 'libmd', d)}"

PACKAGECONFIG ??= "usb openssl"
PACKAGECONFIG[usb] = "-DWITH_USB=ON,-DWITH_USB=OFF,libusb1"
PACKAGECONFIG[zmq] = "-DWITH_ZMQ=ON,-DWITH_ZMQ=OFF,zeromq,zeromq"
PACKAGECONFIG[openssl] = "-DWITH_OPENSSL=ON,-DWITH_OPENSSL=OFF,openssl,libcrypto"
PACKAGECONFIG[curl] = "-DWITH_CURL=ON,-DWITH_CURL=OFF,curl expat openssl,curl expat"
PACKAGECONFIG[libiio] = "-DWITH_LIBIIO=ON,-DWITH_LIBIIO=OFF,,libiio"

EXTRA_OECMAKE = "-DIIO_STREAM_TESTS=OFF -DIIO_STREAM_PYTHON_BINDINGS=OFF -DIIO_STREAM_GNURADIO=OFF -DIIO_STREAM_SOAPY=OFF"

# An image can enable the units if its board must stream after boot.
SYSTEMD_SERVICE:${PN} = "iio-stream-gadget.service iio-stream@.service"
SYSTEMD_AUTO_ENABLE = "disable"
FILES:${PN} += "${nonarch_base_libdir} ${systemd_system_unitdir} ${datadir}/bash-completion ${datadir}/zsh ${datadir}/fish"
RRECOMMENDS:${PN} = "kernel-module-udmabuf"
