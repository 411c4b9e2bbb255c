// SPDX-License-Identifier: MIT
// The flags of SEND_ZC reports (Linux 6.2), which Debian 12's headers (6.1) lack. tests/uapi
// compares them with the real header.
#pragma once

namespace iio_stream::uapi {

inline constexpr unsigned kUringReportUsage = 1U << 3;  // IORING_SEND_ZC_REPORT_USAGE
inline constexpr unsigned kUringUsageCopied = 1U << 31; // IORING_NOTIF_USAGE_ZC_COPIED

} // namespace iio_stream::uapi
