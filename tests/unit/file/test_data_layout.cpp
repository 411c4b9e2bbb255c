// SPDX-License-Identifier: MIT
#include "file/io/data_layout.hpp"
#include "support/errors.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::ByteRange;
using file::DataLayout;
using Ranges = std::vector<ByteRange>;

TEST(DataLayout, AFileWithoutHeadersIsOneRange)
{
    EXPECT_TRUE(DataLayout().is_plain());
    EXPECT_EQ(DataLayout().ranges(1000, 4, "a"), (Ranges{{0, 1000}}));
    EXPECT_EQ(DataLayout().ranges(0, 4, "a"), Ranges());
}

// The example in SigMF's specification of core:header_bytes.
TEST(DataLayout, EachChunkBeginsAfterItsHeader)
{
    const DataLayout layout{{{0, 4}, {500, 4}}, 0};
    EXPECT_EQ(layout.ranges(5000, 2, "a"), (Ranges{{4, 1004}, {1008, 5000}}));
    EXPECT_EQ(bytes_in(layout.ranges(5000, 2, "a")), 4992u);
    EXPECT_EQ(layout.ranges(1008, 2, "a"), (Ranges{{4, 1004}}));
}

TEST(DataLayout, TrailingBytesAreExcluded)
{
    const DataLayout layout{{{100, 8}}, 12};
    EXPECT_EQ(layout.ranges(1000, 4, "a"), (Ranges{{0, 400}, {408, 988}}));
}

TEST(DataLayout, AFileThatIsTooShortIsRefused)
{
    const auto error = [](const DataLayout& layout, std::uint64_t size) {
        return error_of([&] { (void)layout.ranges(size, 4, "a.dat"); });
    };
    EXPECT_EQ(error({{{500, 4}}, 0}, 2003).code().value(), EBADMSG);
    EXPECT_EQ(error({{}, 2004}, 2003).code().value(), EBADMSG);
    EXPECT_EQ(error({{{0, 2000}}, 4}, 2003).object(), "a.dat");
    EXPECT_EQ(error({{{UINT64_MAX, 4}}, 0}, 2003).code().value(), EBADMSG);
    EXPECT_EQ(error({{{0, UINT64_MAX}, {1, UINT64_MAX}}, 0}, 2003).code().value(), EBADMSG);
}

} // namespace
