// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"

#include <string>
#include <vector>

namespace iio_stream::iio {

/// Whether the name is that of a front end: "ad9361-phy", "ad9361-phy-B".
bool is_phy(const std::string& name);

/// A front end's name without "-phy" and what follows it.
std::string stem_of(const std::string& phy);

/// Whether `word` is one of the words of a text separated by "-", or several in a row.
bool has_word(const std::string& text, const std::string& word);

/// Whether a front end, "ad9361-phy-B", belongs to a converter, "cf-ad9361-A": the name of the one
/// without "-phy" is a word of the other's name or label.
bool belongs_by_name(const std::string& phy, const std::string& converter,
                     const std::string& label);

/// The front ends of a converter, by name: those linked to it by name, label or firmware node. Or,
/// unless `phy` is "auto", the one the user named, whatever it is.
std::vector<Device> find_phys(const Device& converter, const std::string& uri,
                              const std::string& phy);

} // namespace iio_stream::iio
