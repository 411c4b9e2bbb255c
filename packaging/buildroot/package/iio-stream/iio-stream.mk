# SPDX-License-Identifier: MIT
################################################################################
#
# iio-stream
#
################################################################################

IIO_STREAM_SITE = $(realpath $(BR2_EXTERNAL_IIO_STREAM_PATH)/../..)
IIO_STREAM_SITE_METHOD = local
IIO_STREAM_VERSION = $(shell sed -n 's/.*kVersion = "\(.*\)".*/\1/p' $(IIO_STREAM_SITE)/src/include/iio_stream/api.hpp)
IIO_STREAM_LICENSE = MIT
IIO_STREAM_LICENSE_FILES = LICENSE LICENSES/MIT.txt
IIO_STREAM_INSTALL_STAGING = YES
IIO_STREAM_SUPPORTS_IN_SOURCE_BUILD = NO
# The developer's builds of the tree are not copied.
IIO_STREAM_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = --exclude build --exclude 'build-*'
IIO_STREAM_DEPENDENCIES = host-pkgconf cli11 json-for-modern-cpp liburing
IIO_STREAM_CONF_OPTS = \
	-DIIO_STREAM_TESTS=OFF \
	-DIIO_STREAM_PYTHON_BINDINGS=OFF \
	-DIIO_STREAM_GNURADIO=OFF \
	-DIIO_STREAM_SOAPY=OFF \
	-DWITH_LIBIIO=ON

ifeq ($(BR2_PACKAGE_LIBUSB),y)
IIO_STREAM_DEPENDENCIES += libusb
IIO_STREAM_CONF_OPTS += -DWITH_USB=ON
else
IIO_STREAM_CONF_OPTS += -DWITH_USB=OFF
endif

ifeq ($(BR2_PACKAGE_ZEROMQ),y)
IIO_STREAM_DEPENDENCIES += zeromq
IIO_STREAM_CONF_OPTS += -DWITH_ZMQ=ON
else
IIO_STREAM_CONF_OPTS += -DWITH_ZMQ=OFF
endif

ifeq ($(BR2_PACKAGE_OPENSSL),y)
IIO_STREAM_DEPENDENCIES += openssl
IIO_STREAM_CONF_OPTS += -DWITH_OPENSSL=ON
else
IIO_STREAM_DEPENDENCIES += libmd
IIO_STREAM_CONF_OPTS += -DWITH_OPENSSL=OFF
endif

ifeq ($(BR2_PACKAGE_LIBCURL)$(BR2_PACKAGE_EXPAT)$(BR2_PACKAGE_OPENSSL),yyy)
IIO_STREAM_DEPENDENCIES += libcurl expat
IIO_STREAM_CONF_OPTS += -DWITH_CURL=ON
else
IIO_STREAM_CONF_OPTS += -DWITH_CURL=OFF
endif

# The kernel options that streams and the gadget need, in Linux 6.11 or newer.
define IIO_STREAM_LINUX_CONFIG_FIXUPS
	$(call KCONFIG_ENABLE_OPT,CONFIG_UDMABUF)
	$(call KCONFIG_ENABLE_OPT,CONFIG_DMABUF_HEAPS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_DMABUF_HEAPS_SYSTEM)
	$(call KCONFIG_ENABLE_OPT,CONFIG_IO_URING)
	$(call KCONFIG_ENABLE_OPT,CONFIG_CONFIGFS_FS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_USB_CONFIGFS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_USB_CONFIGFS_F_FS)
endef

ifneq ($(BR2_INIT_SYSTEMD),y)
define IIO_STREAM_REMOVE_UNITS
	rm -f $(TARGET_DIR)/lib/systemd/system/iio-stream*.service
	rm -f $(TARGET_DIR)/lib/sysusers.d/iio-stream.conf
endef
IIO_STREAM_POST_INSTALL_TARGET_HOOKS += IIO_STREAM_REMOVE_UNITS
endif

# The group of the udev rules.
define IIO_STREAM_USERS
	- - plugdev -1 * - - -
endef

$(eval $(cmake-package))
