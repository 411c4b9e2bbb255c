// SPDX-License-Identifier: MIT
#pragma once

#include "serve/tree.hpp"

#include <string>
#include <vector>

namespace iio_stream::serve {

/// The rules that say what clients may write.
class WriteAllowlist {
public:
    /// Throws a usage Error for a rule that can match nothing.
    explicit WriteAllowlist(std::vector<std::string> rules);

    /// What a request would write, as a rule names it: "ad9361-phy/in_voltage0/hardwaregain",
    /// "play:dac".
    static std::string name_of(const Tree::Device& device, const Request& request);
    bool permits(const Tree::Device& device, const Request& request) const;

private:
    std::vector<std::string> rules_;
};

} // namespace iio_stream::serve
