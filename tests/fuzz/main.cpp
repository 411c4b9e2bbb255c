// SPDX-License-Identifier: MIT
// libFuzzer's entry: the target is the first argument's, "--target=NAME", which libFuzzer passes
// over.
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
    g_target->run(std::as_bytes(std::span(data, size))); // what is Broken ends the program
    return 0;
}
