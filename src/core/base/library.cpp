// SPDX-License-Identifier: MIT
#include "core/base/library.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>
#include <dlfcn.h>

namespace iio_stream::detail {

Library::Library(const char* name, const char* other_name, const char* package)
    : name_(name),
      hint_(std::string("sudo apt install ") + package),
      handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL))
{
    const char* why = handle_ == nullptr ? ::dlerror() : nullptr;
    const std::string text = why == nullptr ? "" : why; // the next dlopen() frees `why`
    if (handle_ == nullptr && other_name != nullptr)
        handle_ = ::dlopen(other_name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr)
        fail(text);
}

void Library::fail(const std::string& detail) const
{
    throw Error(Fault::other, ENOSYS, "load", name_, detail, hint_);
}

void* Library::symbol(const char* name) const
{
    void* const address = ::dlsym(handle_, name);
    if (address == nullptr)
        fail(std::string("it has no ") + name);
    return address;
}

} // namespace iio_stream::detail
