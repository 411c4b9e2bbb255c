// SPDX-License-Identifier: MIT
#include "iio_stream/error.hpp"
#include "support/errors.hpp"
#include "sys/fail.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(Error, TheTextNamesOperationObjectReasonAndHint)
{
    const Error error(Fault::storage, EEXIST, "open", "a.ci16", {}, "overwrite=on replaces it");
    EXPECT_STREQ(error.what(), "open a.ci16: File exists (overwrite=on replaces it)");
    EXPECT_EQ(error.code().value(), EEXIST);
    EXPECT_EQ(error.code().category(), std::generic_category());
    EXPECT_EQ(error.operation(), "open");
    EXPECT_EQ(error.object(), "a.ci16");
    EXPECT_EQ(error.hint(), "overwrite=on replaces it");
    EXPECT_EQ(error.fault(), Fault::storage);
}

TEST(Error, ADetailReplacesTheErrnosText)
{
    const Error error(Fault::device, ETIMEDOUT, "wait for a block", "iio:x", "nothing came");
    EXPECT_STREQ(error.what(), "wait for a block iio:x: nothing came");
    EXPECT_EQ(error.detail(), "nothing came");
}

TEST(Error, NoSeparatorIsLeftOverWithoutAnObjectOrOperation)
{
    EXPECT_STREQ(Error(Fault::device, ETIMEDOUT, "wait for", "usb:", "nothing came").what(),
                 "wait for usb: nothing came");
    EXPECT_STREQ(Error(Fault::other, EIO, "eventfd", "").what(), "eventfd: Input/output error");
    EXPECT_STREQ(Error(Fault::other, EIO, "", "", "broken").what(), "broken");
    EXPECT_STREQ(Error(Fault::other, EIO, "", "").what(), "Input/output error");
}

TEST(Error, TheFaultIsSetOnlyOnce)
{
    const Error unblamed(Fault::other, EIO, "read", "x", "d", "h");
    const Error device = unblamed.blamed_on(Fault::device);
    EXPECT_EQ(device.fault(), Fault::device);
    EXPECT_STREQ(device.what(), unblamed.what());
    EXPECT_EQ(device.code(), unblamed.code());
    EXPECT_EQ(device.blamed_on(Fault::storage).fault(), Fault::device);
}

TEST(Error, AUsageErrorIsEinvalWithAHint)
{
    const Error error = error_of([] { fail_usage("blocks=1: too few", "2 or more"); });
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(error.code().value(), EINVAL);
    EXPECT_STREQ(error.what(), "blocks=1: too few (2 or more)");
}

TEST(Error, ErrnosHaveTheirSymbolicNames)
{
    EXPECT_EQ(errno_name(ENOSPC), "ENOSPC");
    EXPECT_EQ(errno_name(EPIPE), "EPIPE");
    EXPECT_EQ(errno_name(123456), "");
}

TEST(Error, SysFailCarriesTheErrnoAndNamesNoEndpoint)
{
    const Error error = error_of([] { sys::fail(ENOENT, "open", "/nowhere", "make it"); });
    EXPECT_EQ(error.fault(), Fault::other);
    EXPECT_STREQ(error.what(), "open /nowhere: No such file or directory (make it)");
    EXPECT_STREQ(error_of([] { sys::fail(EPERM, "x", "y"); }).what(),
                 "x y: Operation not permitted");
}

} // namespace
