// SPDX-License-Identifier: MIT
#include "sys/fail.hpp"

#include <utility>

namespace iio_stream::sys {

void fail(int error, const char* operation, std::string object)
{
    throw Error(Fault::other, error, operation, std::move(object));
}

void fail(int error, const char* operation, std::string object, std::string hint)
{
    throw Error(Fault::other, error, operation, std::move(object), {}, std::move(hint));
}

} // namespace iio_stream::sys
