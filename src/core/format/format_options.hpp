// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::detail {

/// The format given by the options format=, channel_names= and rate=, for samples that do not
/// describe themselves. `usual` is the default of format=. `channels` is the default of
/// channel_names=; "" means as many as the format implies. Throws a usage Error with the text
/// `lacking` and the hint `hint` if there is neither format= nor `usual`.
Format format_from_options(Options& options, const std::string& usual, const std::string& channels,
                           const std::string& lacking, const std::string& hint);

/// `format` with only the channels that channels= names, in the order and at the offsets that they
/// have in the sample. Throws a usage Error for an unknown name, for a name that is given twice,
/// and for an empty list.
Format chosen_channels(const Format& format, const std::string& names);

/// The conversion of a stream's samples for a device that plays the same number of channels in
/// another format. The conversion is empty if the types are the same or the numbers of channels
/// differ.
Conversion conversion_to_device(const Format& stream, const Format& device,
                                const std::string& name);

/// Throws a usage Error that names both formats if a stream's samples are not laid out like the
/// device's. A device takes samples unchanged.
void require_same_layout(const Format& stream, const Format& device, const std::string& name);

} // namespace iio_stream::detail
