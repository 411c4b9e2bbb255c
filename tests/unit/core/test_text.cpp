// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using detail::Lines;
using detail::percent_decoded;
using detail::percent_encoded;
using detail::printable;

TEST(Printable, TextInAllLanguagesIsUnchanged)
{
    for (const char* text : {"", "voltage0_i", "a b", "Größe 5 µs → 中文 🙂", "\\x1b"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlSequencesAreEscaped)
{
    EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
    EXPECT_EQ(printable("a\r\nb\tc\x07\x7f"), "a\\x0d\\x0ab\\x09c\\x07\\x7f");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m"); // CSI in one character
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "cba"),
              "\\xe2\\x80\\xae"
              "cba");                                        // right-to-left override
    EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8"); // line separator
}

TEST(Printable, InvalidBytesAreEscaped)
{
    EXPECT_EQ(printable("\x9b"
                        "2J"),
              "\\x9b2J");
    EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");          // an overlong encoding
    EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b"); // another overlong encoding
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // half of a surrogate pair
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    EXPECT_EQ(printable("\xe4\xb8"), "\\xe4\\xb8"); // truncated
}

TEST(Printable, LineBreaksStayInMultiLineText)
{
    EXPECT_EQ(printable("a\n\tb\r\x1b", Lines::many), "a\n\tb\\x0d\\x1b");
}

TEST(Printable, AnErrorsTextIsPrintable)
{
    const Error error(Fault::device, EIO, "read", "bo\x1b[31m\nard", "no\x07", "try\x9b");
    EXPECT_STREQ(error.what(), "read bo\\x1b[31m\\x0aard: no\\x07 (try\\x9b)");
    EXPECT_EQ(error.object(), "bo\x1b[31m\nard"); // a path stays unchanged
    EXPECT_EQ(error.detail(), "no\\x07");
    EXPECT_EQ(error.hint(), "try\\x9b");
}

bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

TEST(PercentEncoding, AllButThePlainCharactersAreEncoded)
{
    EXPECT_EQ(percent_encoded("a b", &is_letter), "a%20b");
    EXPECT_EQ(percent_encoded("\xff", &is_letter), "%FF");
    EXPECT_EQ(percent_encoded(std::string_view("\0", 1), &is_letter), "%00");
}

TEST(PercentEncoding, OneCodeOfEitherCaseIsDecoded)
{
    EXPECT_EQ(percent_decoded("%41b"), 'A');
    EXPECT_EQ(percent_decoded("%fF"), '\xff');
    for (const char* text : {"", "%", "%4", "A", "41", "%4g", "%g4", "%-1", "%+1", "% 1"})
        EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

} // namespace
