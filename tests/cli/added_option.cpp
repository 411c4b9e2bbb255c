// SPDX-License-Identifier: MIT
// test_options.py preloads this library into the command and into Python. It adds an option to
// sim:.
#include <iio_stream/endpoint.hpp>

namespace {

using namespace iio_stream;

constexpr OptionTable kAdded{
    Option{"colour", OptionType::choice, "red|green|infrared", "nm", "red",
           "Colour of the simulated samples", OptionSide::source},
};

[[gnu::constructor]] void add_option()
{
    for (Scheme scheme : schemes()) {
        if (scheme.name != "sim")
            continue;
        scheme.options.push_back(kAdded["colour"]);
        scheme.source = [make = scheme.source](Uri& uri) {
            const std::string colour = uri.options.take_or_standard(kAdded["colour"]);
            if (colour == "infrared")
                uri.options.set("seed", colour); // sim: rejects it, which proves that it is used
            return make(uri);
        };
        register_scheme(scheme);
        return;
    }
}

} // namespace
