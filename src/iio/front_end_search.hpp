// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// Whether a device is a front end by its name: "ad9361-phy", "ad9361-phy-B".
bool is_phy(const std::string& name);

/// A front end's name without "-phy" and what comes behind it.
std::string stem_of(const std::string& phy);

/// Whether one of the words of a text, which "-" parts, is `word`, or some in a row are.
bool has_word(const std::string& text, const std::string& word);

/// Whether a front end, "ad9361-phy-B", is that of a converter, "cf-ad9361-A": the one's name without
/// "-phy" is a word of the other's, or of its label.
bool belongs_by_name(const std::string& phy, const std::string& converter, const std::string& label);

/// The front ends of a converter, by name: those that its name, label or firmware node links to it. Or the
/// one that the user means, whatever it is, where `phy` is not "auto".
std::vector<Device> find_phys(const Device& converter, const std::string& uri, const std::string& phy);

} // namespace iio_stream::iio
