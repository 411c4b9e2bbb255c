// SPDX-License-Identifier: MIT
#include "iio_stream/error.hpp"
#include "serve/client.hpp"
#include "sys/files.hpp"

#include <cerrno>

namespace iio_stream::serve {

namespace {

constexpr std::size_t kLongestValue =
    64 * 1024; ///< firmware and filters are written as attributes, too

// 0 or the errno. libiio's values end with a zero, in place of the newline.
int read_value(const std::string& file, std::string& value)
try {
    const auto text = sys::read_text(file);
    if (!text)
        return ENOENT;
    value = *text + '\0';
    return 0;
} catch (const Error& error) {
    return error.code().value();
}

int write_value(const std::string& file, const std::string& value)
try {
    sys::write_text(file, value);
    return 0;
} catch (const Error& error) {
    return error.code().value();
}

void append_number(std::string& out, std::int32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        out += static_cast<char>(static_cast<std::uint32_t>(number) >> shift & 0xff);
}

bool is_of_channel(const Request& request)
{
    return request.owner == Owner::input || request.owner == Owner::output;
}

// What is wrong with the owner of an attribute: 0 or an errno.
int missing(const Tree::Device* device, const Request& request)
{
    if (device == nullptr)
        return ENODEV;
    if (is_of_channel(request) &&
        device->find_channel(request.channel, request.owner == Owner::output) == nullptr)
        return ENXIO;
    return 0;
}

} // namespace

// All of an owner's: each a number of bytes or an errno, 32 bits, big endian, and the value, padded
// to four bytes.
std::string Client::all_attributes(const Tree& tree, const Tree::Device& device,
                                   const Request& request) const
{
    std::string all;
    Request one = request;
    for (const std::string& name : Tree::names_of(device, request)) {
        one.attribute = name;
        std::string value;
        const int error = read_value(tree.file_of(device, one), value);
        append_number(all, error != 0 ? -error : static_cast<std::int32_t>(value.size()));
        all += value;
        all.resize((all.size() + 3) / 4 * 4);
    }
    return all;
}

void Client::read_attribute(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    int error = missing(device, request);
    std::string value;
    if (error == 0 && request.attribute.empty()) {
        value = all_attributes(*tree, *device, request);
    } else if (error == 0) {
        const std::string file = tree->file_of(*device, request);
        error = file.empty() ? ENOENT : read_value(file, value);
    }
    if (error != 0)
        say(-error);
    else
        wire_.send(std::to_string(value.size()) + "\n" + value + "\n");
}

void Client::write_attribute(const Request& request)
{
    if (request.number > kLongestValue) { // what follows is no command
        say(-E2BIG);
        throw Gone(Fault::other, E2BIG, "receive an attribute from", wire_.peer());
    }
    std::string value(static_cast<std::size_t>(request.number), '\0');
    wire_.receive(std::as_writable_bytes(std::span(value)));
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    int error = missing(device, request);
    if (error == 0) {
        const std::string file = tree->file_of(*device, request);
        error = request.attribute.empty() ? ENOSYS
                : file.empty()            ? ENOENT
                : !may(*device, request)  ? EACCES
                                          : write_value(file, value);
    }
    say(error != 0 ? -error : static_cast<std::int64_t>(value.size()));
}

void Client::get_trigger(const Request& request)
{
    const Tree::Device* device = state_.tree()->find(request.device);
    if (device == nullptr)
        return say(-ENODEV);
    std::string name;
    if (const int error = read_value(Tree::trigger_file(*device), name))
        return say(-error);
    name.pop_back(); // its zero
    if (name.empty())
        return say(0);
    wire_.send(std::to_string(name.size()) + "\n" + name + "\n");
}

void Client::set_trigger(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    const Tree::Device* trigger = request.trigger.empty() ? nullptr : tree->find(request.trigger);
    if (device == nullptr)
        return say(-ENODEV);
    if (trigger == nullptr && !request.trigger.empty())
        return say(-ENOENT);
    if (!may(*device, request))
        return say(-EACCES);
    say(-write_value(Tree::trigger_file(*device), trigger == nullptr ? "\n" : trigger->node->name));
}

} // namespace iio_stream::serve
