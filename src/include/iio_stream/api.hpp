// SPDX-License-Identifier: MIT
#pragma once

/// Marks what libiio-stream.so exports; everything else in it is hidden.
#define IIO_STREAM_API __attribute__((visibility("default")))
