// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iio_stream::archive {

/// An element with its children: of a store's answer, which nests three deep.
struct Element {
    std::string name, text; ///< without the namespace's prefix; its own text
    std::vector<Element> children;

    /// The text of the first child of that name; "" without one.
    std::string_view value(std::string_view child) const noexcept;
};

/// The root of a document. Throws an Error (EBADMSG) for anything else than well-formed XML of a
/// store: with a document type, and thus with entities of its own, or nested deeper than eight.
Element parse_xml(std::string_view text, const std::string& of);

} // namespace iio_stream::archive
