// SPDX-License-Identifier: MIT
#pragma once

#include "support/temp_dir.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/disk/io_refusal.hpp"

#include <gtest/gtest.h>
#include <string>

namespace iio_stream::test {

/// Tests past the page cache, by the engine that is their parameter; skipped if the temporary
/// directory's file system or the machine lacks it.
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
