/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_API_H
#define INCLUDED_GR_IIO_STREAM_API_H

#include <gnuradio/attributes.h>

// Not IIO_STREAM_API, which is the library's macro.
#ifdef gnuradio_iio_stream_EXPORTS
#define GR_IIO_STREAM_API __GR_ATTR_EXPORT
#else
#define GR_IIO_STREAM_API __GR_ATTR_IMPORT
#endif

#endif
