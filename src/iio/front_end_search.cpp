// SPDX-License-Identifier: MIT
#include "iio/front_end_search.hpp"

#include "iio/firmware_link.hpp"

#include <algorithm>

namespace iio_stream::iio {

bool is_phy(const std::string& name)
{
    const std::size_t at = name.find("-phy");
    return at != 0 && at != std::string::npos && (at + 4 == name.size() || name[at + 4] == '-');
}

std::string stem_of(const std::string& phy)
{
    return phy.substr(0, phy.find("-phy"));
}

bool has_word(const std::string& text, const std::string& word)
{
    const auto ends = [&](std::size_t at) { return at >= text.size() || text[at] == '-'; };
    for (std::size_t at = text.find(word); at != std::string::npos && !word.empty();
         at = text.find(word, at + 1))
        if ((at == 0 || ends(at - 1)) && ends(at + word.size()))
            return true;
    return false;
}

bool belongs_by_name(const std::string& phy, const std::string& converter, const std::string& label)
{
    const std::string stem = stem_of(phy);
    return has_word(converter, stem) || has_word(label, stem);
}

std::vector<Device> find_phys(const Device& converter, const std::string& uri,
                              const std::string& phy)
{
    if (phy != "auto")
        return {find_device(converter.context(), uri, phy)};
    std::vector<Device> found;
    for (const Device& device : devices(converter.context()))
        if (device.id() != converter.id() && is_phy(device.name()) &&
            (belongs_by_name(device.name(), converter.name(), converter.label()) ||
             linked_by_firmware(converter, device)))
            found.push_back(device);
    // Two boards of the same kind: the firmware knows which belongs to which.
    const bool linked = std::any_of(found.begin(), found.end(), [&](const Device& device) {
        return linked_by_firmware(converter, device);
    });
    if (linked)
        std::erase_if(found, [&](const Device& device) {
            return !linked_by_firmware(converter, device) &&
                   std::any_of(found.begin(), found.end(), [&](const Device& other) {
                       return other.name() == device.name() && other.id() != device.id();
                   });
        });
    std::stable_sort(found.begin(), found.end(),
                     [](const Device& a, const Device& b) { return a.name() < b.name(); });
    return found;
}

} // namespace iio_stream::iio
