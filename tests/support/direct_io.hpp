// SPDX-License-Identifier: MIT
#pragma once

#include "support/temp_dir.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/disk/io_refusal.hpp"

#include <gtest/gtest.h>
#include <string>

namespace iio_stream::test {

/// Base of tests with direct I/O. The parameter is the engine. The tests are skipped if the
/// machine, or the file system of the temporary directory, does not support it.
class DirectIoTest : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        const sys::DirectIo io = sys::direct_io_at(dir_ / "probe");
        if (!io.possible())
            GTEST_SKIP() << dir_.path() << ": " << io.refusal;
        if (std::string(GetParam()) == "io_uring" && sys::io_uring_refusal().refused())
            GTEST_SKIP() << sys::io_uring_refusal().why;
    }

    const TempDir dir_;
};

} // namespace iio_stream::test
