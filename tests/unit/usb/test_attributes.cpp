// SPDX-License-Identifier: MIT
// The answers of a board about its attributes, tested without a board.
#include "iio_stream/error.hpp"
#include "usb/board/attribute_worker.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::usb;

Error error_in(const std::string& answer)
{
    try {
        (void)value_of(answer, "gain");
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error in " << answer;
    return {Fault::other, 0, "", ""};
}

TEST(UsbAttribute, EscapeSequencesAreMadeHarmless)
{
    EXPECT_EQ(value_of(R"({"value":"a\u001b[0mb\nc"})", "gain"), "a\\x1b[0mb\nc");
    const Error error = error_in(R"({"error":{"errno":22,"message":"no\u001b","hint":"t\u009b"}})");
    EXPECT_EQ(error.detail(), "no\\x1b");
    EXPECT_EQ(error.hint(), "t\\xc2\\x9b");
    EXPECT_EQ(error.code().value(), EINVAL);
}

TEST(UsbAttribute, AnInvalidErrnoFromTheBoardBecomesEio)
{
    for (const char* number : {"0", "-5", "4096", "99999999999", "1.5", "\"x\"", "null"})
        EXPECT_EQ(
            error_in(R"({"error":{"message":"no","errno":)" + std::string(number) + "}}").code(),
            std::error_code(EIO, std::generic_category()))
            << number;
}

TEST(UsbAttribute, AWorkerWithoutARequestEndsAtOnce)
{
    const AttributeWorker worker({});
    EXPECT_TRUE(worker.is_free());
}

} // namespace
