// SPDX-License-Identifier: MIT
#pragma once

#include "serve/tree.hpp"

#include <string>
#include <vector>

namespace iio_stream::serve {

/// Determines from the rules of --allow which writes of clients are permitted.
class WriteAllowlist {
public:
    /// Throws a usage Error for a rule that cannot match anything.
    explicit WriteAllowlist(std::vector<std::string> rules);

    /// The name that a rule must match to permit the request, such as
    /// "ad9361-phy/in_voltage0/hardwaregain" or "play:dac".
    static std::string name_of(const Tree::Device& device, const Request& request);
    bool permits(const Tree::Device& device, const Request& request) const;

private:
    std::vector<std::string> rules_;
};

} // namespace iio_stream::serve
