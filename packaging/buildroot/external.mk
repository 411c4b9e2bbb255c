# SPDX-License-Identifier: MIT
include $(sort $(wildcard $(BR2_EXTERNAL_IIO_STREAM_PATH)/package/*/*.mk))
