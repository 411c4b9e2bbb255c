// SPDX-License-Identifier: MIT
// All inputs in the corpus of tests/fuzz: the seeds of the fuzzers, and the inputs that have found
// faults.
#include "fuzz/fuzz.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <vector>

namespace {

namespace fs = std::filesystem;
using iio_stream::fuzz::Target;

const fs::path kCorpus = fs::path(IIO_STREAM_TESTS) / "fuzz" / "corpus";

std::vector<char> bytes_in(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FuzzCorpus, EachInputPassesItsTarget)
{
    for (const Target& target : iio_stream::fuzz::targets()) {
        int inputs = 0;
        for (const auto& entry : fs::directory_iterator(kCorpus / target.name)) {
            SCOPED_TRACE(entry.path().string());
            const std::vector<char> input = bytes_in(entry.path());
            EXPECT_NO_THROW(target.run(std::as_bytes(std::span(input))));
            ++inputs;
        }
        EXPECT_GT(inputs, 0) << target.name;
    }
}

TEST(FuzzCorpus, EachFolderBelongsToATarget)
{
    std::set<std::string> names, folders;
    for (const Target& target : iio_stream::fuzz::targets())
        names.insert(target.name);
    for (const auto& entry : fs::directory_iterator(kCorpus))
        folders.insert(entry.path().filename());
    EXPECT_EQ(names, folders);
}

} // namespace
