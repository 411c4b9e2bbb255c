// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::detail {

/// The format that the options format=, channel_names= and rate= state, for samples that do not
/// describe themselves. Without format= it is `usual`, and without channel_names= those are
/// `channels` ("": as the format says); if both format= and `usual` are missing, throws a usage
/// Error made of `lacking` and `hint`.
Format format_from_options(Options& options, const std::string& usual, const std::string& channels,
                           const std::string& lacking, const std::string& hint);

/// The channels of `format` that channels= names, in the order of the sample and at their places in
/// it. Throws a usage Error for a name that is none of them or is given twice.
Format chosen_channels(const Format& format, const std::string& names);

/// The conversion of a stream's samples to those of a device that plays as many channels in another
/// format. Empty if the types are the same or the numbers of channels differ.
Conversion conversion_to_device(const Format& stream, const Format& device,
                                const std::string& name);

/// A device takes samples as they come: throws a usage Error that names both formats if a stream's
/// samples are not laid out like the device's.
void require_same_layout(const Format& stream, const Format& device, const std::string& name);

} // namespace iio_stream::detail
