// SPDX-License-Identifier: MIT
#include "iio_stream/error.hpp"

#include "iio_stream/printable.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace iio_stream {

namespace {

std::string compose(int error, const std::string& operation, const std::string& object,
                    const std::string& detail, const std::string& hint)
{
    std::string text = operation;
    if (!object.empty())
        text += (text.empty() ? "" : " ") + object;
    if (!text.empty())
        text += text.ends_with(':') ? " " : ": "; // an endpoint can be "usb:"
    text += detail.empty() ? std::generic_category().message(error) : detail;
    if (!hint.empty())
        text += " (" + hint + ")";
    return printable(text); // it can contain untrusted names
}

} // namespace

Error::Error(Fault fault, int error, std::string operation, std::string object, std::string detail,
             std::string hint)
    : std::system_error(error, std::generic_category()),
      fault_(fault),
      operation_(std::move(operation)),
      object_(std::move(object)),
      detail_(printable(detail)),
      hint_(printable(hint)),
      text_(compose(error, operation_, object_, detail_, hint_))
{}

Error Error::blamed_on(Fault fault) const
{
    if (fault_ != Fault::other)
        return *this;
    return {fault, code().value(), operation_, object_, detail_, hint_};
}

void fail_usage(std::string what, std::string hint)
{
    throw Error(Fault::usage, EINVAL, "", "", std::move(what), std::move(hint));
}

std::string errno_name(int error)
{
    const char* name = ::strerrorname_np(error);
    return name == nullptr ? "" : name;
}

} // namespace iio_stream
