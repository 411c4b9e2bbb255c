// SPDX-License-Identifier: MIT
#pragma once

/// Includes the whole library.
#include "iio_stream/api.hpp"            // IWYU pragma: export
#include "iio_stream/archive.hpp"        // IWYU pragma: export
#include "iio_stream/archive_pack.hpp"   // IWYU pragma: export
#include "iio_stream/archive_prune.hpp"  // IWYU pragma: export
#include "iio_stream/archive_pull.hpp"   // IWYU pragma: export
#include "iio_stream/archive_verify.hpp" // IWYU pragma: export
#include "iio_stream/bench.hpp"          // IWYU pragma: export
#include "iio_stream/block.hpp"          // IWYU pragma: export
#include "iio_stream/conformance.hpp"    // IWYU pragma: export
#include "iio_stream/device.hpp"         // IWYU pragma: export
#include "iio_stream/doctor.hpp"         // IWYU pragma: export
#include "iio_stream/endpoint.hpp"       // IWYU pragma: export
#include "iio_stream/error.hpp"          // IWYU pragma: export
#include "iio_stream/event.hpp"          // IWYU pragma: export
#include "iio_stream/format.hpp"         // IWYU pragma: export
#include "iio_stream/gadget.hpp"         // IWYU pragma: export
#include "iio_stream/memory.hpp"         // IWYU pragma: export
#include "iio_stream/option.hpp"         // IWYU pragma: export
#include "iio_stream/pipeline.hpp"       // IWYU pragma: export
#include "iio_stream/printable.hpp"      // IWYU pragma: export
#include "iio_stream/reader.hpp"         // IWYU pragma: export
#include "iio_stream/recording.hpp"      // IWYU pragma: export
#include "iio_stream/samples.hpp"        // IWYU pragma: export
#include "iio_stream/scan.hpp"           // IWYU pragma: export
#include "iio_stream/server.hpp"         // IWYU pragma: export
#include "iio_stream/session.hpp"        // IWYU pragma: export
#include "iio_stream/stats.hpp"          // IWYU pragma: export
#include "iio_stream/tuning.hpp"         // IWYU pragma: export
#include "iio_stream/units.hpp"          // IWYU pragma: export
#include "iio_stream/uri.hpp"            // IWYU pragma: export
#include "iio_stream/usb.hpp"            // IWYU pragma: export
#include "iio_stream/utc.hpp"            // IWYU pragma: export
#include "iio_stream/writer.hpp"         // IWYU pragma: export
