// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iio_stream::archive {

/// An element with its children. A store's answer nests elements three deep.
struct Element {
    std::string name, text; ///< without the namespace prefix; without the children's text
    std::vector<Element> children;

    /// Returns the text of the first child with this name; "" if there is none.
    std::string_view value(std::string_view child) const noexcept;
};

/// Parses a document and returns its root. Throws an Error (EBADMSG), which names `of`, if the text
/// is not well-formed XML, has a document type (which could define entities), or nests elements
/// more than eight deep.
Element parse_xml(std::string_view text, const std::string& of);

} // namespace iio_stream::archive
