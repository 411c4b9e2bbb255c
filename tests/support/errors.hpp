// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "iio_stream/stats.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace iio_stream::test {

/// Returns the Error that `call` throws. If it throws no Error, the test fails and the result is
/// empty.
template <typename Call>
Error error_of(Call&& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {Fault::other, 0, "", ""};
}

/// Returns the fault that ended a stream; nullopt if the stream ended as intended.
inline std::optional<Fault> fault_of(const Summary& summary)
{
    return summary.error ? std::optional(summary.error->fault()) : std::nullopt;
}

/// Checks that `call` throws a usage Error whose text contains all of `words`.
template <typename Call, typename... Words>
void expect_usage_error(Call&& call, const Words&... words)
{
    const Error error = error_of(call);
    EXPECT_EQ(error.fault(), Fault::usage) << error.what();
    for (const std::string& word : {std::string(words)...})
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
            << "'" << word << "' is not in: " << error.what();
}

} // namespace iio_stream::test
