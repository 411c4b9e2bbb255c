// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// Facts about the samples that another program has written into the name of a file.
struct NamedFacts {
    std::string format;                 ///< SigMF's name of the datatype; "" = not in the name
    std::optional<double> rate;         ///< samples per second
    std::optional<double> frequency;    ///< Hz
    std::optional<std::int64_t> utc_ns; ///< time of the first sample
};

/// Recognizes the naming conventions of gqrx (gqrx_20240301_102030_433920000_1800000_fc.raw),
/// rtl_433 (g001_433.92M_250k.cu8), and of HDSDR, SDR# and hackrf_transfer -w
/// (HDSDR_20240301_102030Z_433920kHz_RF.wav). Numbers with the units Hz and sps are recognized in
/// any name, between "_", "-" and dots. M and k without a unit are recognized only in rtl_433's
/// pair of frequency and rate.
NamedFacts facts_in_name(const std::string& path);

} // namespace iio_stream::file
