// SPDX-License-Identifier: MIT
// The entry point for libFuzzer. The argument "--target=NAME" selects the target; libFuzzer ignores
// it.
#include "fuzz/fuzz.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using iio_stream::fuzz::Target;

const Target* g_target = nullptr;

} // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    constexpr const char* kOption = "--target=";
    const char* wanted = "";
    for (int i = 1; i < *argc; ++i)
        if (std::strncmp((*argv)[i], kOption, std::strlen(kOption)) == 0)
            wanted = (*argv)[i] + std::strlen(kOption);
    for (const Target& target : iio_stream::fuzz::targets())
        if (std::strcmp(target.name, wanted) == 0)
            g_target = &target;
    if (std::strcmp(wanted, "?") == 0)
        for (const Target& target : iio_stream::fuzz::targets())
            std::puts(target.name);
    if (g_target == nullptr)
        std::exit(std::strcmp(wanted, "?") == 0 ? 0 : 2);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    g_target->run(std::as_bytes(std::span(data, size))); // a Broken exception ends the program
    return 0;
}
