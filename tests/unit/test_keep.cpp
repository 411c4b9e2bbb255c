// SPDX-License-Identifier: MIT
#include "archive/keep.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::archive;
using namespace iio_stream::test;

void add(Kept& kept, const TempDir& dir, const std::string& name, std::size_t bytes)
{
    write_text(dir / name + ".sigmf-meta", "{}");
    write_text(dir / name + ".sigmf-data", std::string(bytes, '0'));
    kept.add(Seen(dir / name + ".sigmf-meta"), Seen(dir / name + ".sigmf-data"));
}

TEST(Keep, APartThatIsStoredAgainCountsOnce)
{
    const TempDir dir;
    Kept kept("last:250");
    add(kept, dir, "a", 100);
    add(kept, dir, "b", 100);
    add(kept, dir, "b", 120);
    EXPECT_EQ(kept.remove(), std::nullopt); // 220 bytes
    add(kept, dir, "c", 100);
    EXPECT_EQ(kept.remove(), 100u); // 320 bytes
    EXPECT_FALSE(std::filesystem::exists(dir / "a.sigmf-data"));
    EXPECT_EQ(kept.remove(), std::nullopt);
    add(kept, dir, "b", 140);
    add(kept, dir, "d", 100);
    EXPECT_EQ(kept.remove(), 140u); // of 340
    EXPECT_EQ(kept.remove(), std::nullopt);
}

TEST(Keep, APartThatIsStoredAgainAfterItWentIsTheNewest)
{
    const TempDir dir;
    Kept kept("last:150");
    add(kept, dir, "a", 100);
    add(kept, dir, "b", 100);
    EXPECT_EQ(kept.remove(), 100u);
    add(kept, dir, "a", 120);
    EXPECT_EQ(kept.remove(), 100u);
    EXPECT_EQ(kept.remove(), std::nullopt);
    EXPECT_TRUE(std::filesystem::exists(dir / "a.sigmf-meta"));
}

} // namespace
