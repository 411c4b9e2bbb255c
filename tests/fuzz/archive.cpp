// SPDX-License-Identifier: MIT
// What an object store, or whatever is at its address, answers.
#include "archive/xml.hpp"
#include "fuzz/text.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>

namespace iio_stream::fuzz {

namespace {

std::size_t depth_of(const archive::Element& element)
{
    std::size_t deepest = 0;
    for (const archive::Element& child : element.children)
        deepest = std::max(deepest, depth_of(child));
    return deepest + 1;
}

} // namespace

void store_answer(std::span<const std::byte> input)
{
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    try {
        const archive::Element root = archive::parse_xml(text, "s3://bucket/key");
        holds(depth_of(root) <= 8, "an answer is not nested deeper than it may be");
        holds(!root.name.empty() && root.value(root.name).size() <= input.size(), "an answer is of its own bytes");
    } catch (const Error& error) {
        holds(error.code() == std::errc::bad_message, "what is no answer is a bad message");
    }
}

} // namespace iio_stream::fuzz
