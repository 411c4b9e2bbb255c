// SPDX-License-Identifier: MIT
#include "core/format/rows.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace iio_stream::detail;

constexpr std::byte kNothing{0xa5};

std::vector<std::byte> counted(std::size_t size)
{
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i * 37 + i / 251);
    return bytes;
}

struct Shape {
    std::size_t bytes, parts, gap, rows;
    bool avx2;
    std::size_t row() const { return bytes * parts; }
    std::size_t step() const { return row() + gap; }
};

template <typename Check>
void for_every_shape(Check check)
{
    for (const std::size_t bytes : {1U, 2U, 3U, 4U, 6U, 8U, 16U})
        for (std::size_t parts = 1; parts <= 17; ++parts)
            for (const std::size_t gap : {0U, 1U, 4U})
                for (const std::size_t rows : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 15U, 16U, 17U, 70U})
                    for (const bool avx2 : {false, has_avx2()})
                        check(Shape{bytes, parts, gap, rows, avx2});
}

// Buffers of one part each, at odd addresses, with a byte behind that must not be written.
std::vector<std::vector<std::byte>> buffers_of(const Shape& shape)
{
    return {shape.parts, std::vector<std::byte>(1 + shape.rows * shape.bytes + 1, kNothing)};
}

TEST(Rows, EachPartOfEveryRowGoesToItsBuffer)
{
    for_every_shape([](const Shape& s) {
        // The last row ends with the memory, so that reading behind it is an error.
        const std::vector<std::byte> in = counted(1 + s.rows * s.step() - (s.rows > 0 ? s.gap : 0));
        auto buffers = buffers_of(s), expected = buffers;
        std::vector<std::byte*> to;
        for (auto& buffer : buffers)
            to.push_back(buffer.data() + 1);
        split_rows(to, in.data() + 1, s.step(), s.rows, s.bytes, s.avx2);
        for (std::size_t part = 0; part < s.parts; ++part)
            for (std::size_t n = 0; n < s.rows; ++n)
                std::copy_n(in.data() + 1 + n * s.step() + part * s.bytes, s.bytes,
                            expected[part].data() + 1 + n * s.bytes);
        ASSERT_EQ(buffers, expected) << s.parts << " parts of " << s.bytes << ", " << s.rows;
    });
}

TEST(Rows, PartsFromSeveralBuffersBecomeRows)
{
    for_every_shape([](const Shape& s) {
        auto buffers = buffers_of(s);
        std::vector<const std::byte*> from;
        for (std::size_t part = 0; part < s.parts; ++part) {
            buffers[part] = counted(1 + s.rows * s.bytes);
            const auto shift = static_cast<std::ptrdiff_t>(part % buffers[part].size());
            std::rotate(buffers[part].begin(), buffers[part].begin() + shift, buffers[part].end());
            from.push_back(buffers[part].data() + 1);
        }
        std::vector<std::byte> out(1 + s.rows * s.step() + 1, kNothing), expected = out;
        merge_rows(out.data() + 1, s.step(), from, s.rows, s.bytes, s.avx2);
        for (std::size_t part = 0; part < s.parts; ++part)
            for (std::size_t n = 0; n < s.rows; ++n)
                std::copy_n(from[part] + n * s.bytes, s.bytes,
                            expected.data() + 1 + n * s.step() + part * s.bytes);
        ASSERT_EQ(out, expected) << s.parts << " parts of " << s.bytes << ", " << s.rows;
    });
}

TEST(Rows, RowsMoveBetweenAnySteps)
{
    for_every_shape([](const Shape& s) {
        for (const std::size_t gap : {0U, 3U}) {
            const std::vector<std::byte> in = counted(1 + s.rows * s.step());
            const std::size_t step = s.row() + gap;
            std::vector<std::byte> out(1 + s.rows * step + 1, kNothing), expected = out;
            move_rows(out.data() + 1, step, in.data() + 1, s.step(), s.rows, s.row(), s.avx2);
            for (std::size_t n = 0; n < s.rows; ++n)
                std::copy_n(in.data() + 1 + n * s.step(), s.row(), expected.data() + 1 + n * step);
            ASSERT_EQ(out, expected) << s.row() << " bytes, " << s.rows;
        }
    });
}

} // namespace
