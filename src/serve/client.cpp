// SPDX-License-Identifier: MIT
#include "serve/client.hpp"

#include "iio_stream/error.hpp"
#include "serve/xml.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace iio_stream::serve {

namespace {

// The help text of iiod.
constexpr const char* kHelp =
    "Available commands:\n\n"
    "\tHELP\n\tEXIT\n\tPRINT\n\tVERSION\n"
    "\tTIMEOUT <timeout_ms>\n"
    "\tOPEN <device> <samples_count> <mask> [CYCLIC]\n"
    "\tCLOSE <device>\n"
    "\tREAD <device> DEBUG|BUFFER|[INPUT|OUTPUT <channel>] [<attribute>]\n"
    "\tWRITE <device> DEBUG|BUFFER|[INPUT|OUTPUT <channel>] <attribute> <bytes_count>\n"
    "\tREADBUF <device> <bytes_count>\n"
    "\tWRITEBUF <device> <bytes_count>\n"
    "\tGETTRIG <device>\n"
    "\tSETTRIG <device> [<trigger>]\n"
    "\tSET <device> BUFFERS_COUNT <count>\n";

constexpr std::size_t kLongestValue =
    64 * 1024; ///< firmware and filters are written as attributes, too

// Returns 0 or the errno. In libiio's protocol, a value ends with a NUL instead of a newline.
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

// Checks that the owner of an attribute exists. Returns 0 or an errno.
int missing(const Tree::Device* device, const Request& request)
{
    if (device == nullptr)
        return ENODEV;
    if (is_of_channel(request) &&
        device->find_channel(request.channel, request.owner == Owner::output) == nullptr)
        return ENXIO;
    return 0;
}

using Channels = std::vector<const iio::DeviceNode::Channel*>;

// Returns the scan elements that a mask selects. Bit 0 of the last word is the device's first
// channel. The result is empty if the mask is invalid.
Channels channels_of(const iio::DeviceNode& node, const std::string& mask)
{
    constexpr std::size_t kDigits = 8, kBits = 32; // of a word
    Channels found;
    const std::size_t words = (node.channels.size() + kBits - 1) / kBits;
    if (mask.size() != words * kDigits)
        return found;
    for (std::size_t i = 0; i < node.channels.size(); ++i) {
        const char* digits = mask.data() + (words - 1 - i / kBits) * kDigits;
        std::uint32_t word = 0;
        if (const auto [end, error] = std::from_chars(digits, digits + kDigits, word, 16);
            error != std::errc() || end != digits + kDigits)
            return {};
        if ((word >> i % kBits & 1) != 0 && node.channels[i].scan_element)
            found.push_back(&node.channels[i]);
    }
    return found;
}

} // namespace

Client::Client(ServerState& state, Wire& wire, std::atomic<std::int64_t>& idle_ns)
    : state_(state), wire_(wire), idle_ns_(idle_ns), host_timeout_(state.timeout_of(wire.host()))
{}

Client::~Client()
{
    host_timeout_->replace(own_timeout_ns_, 0);
}

void Client::run()
{
    for (;;) {
        begin_wait();
        const auto line = wire_.line();
        idle_ns_ = 0;
        if (!line)
            return;
        const auto request = parse_request(*line);
        if (!request)
            send_number(-EINVAL);
        else if (!answer(*request))
            return;
    }
}

// A client without an open buffer is idle while the server waits for its command, or for the rest
// of its command.
void Client::begin_wait()
{
    idle_ns_ = readers_.empty() && playback_clients_.empty() ? sys::monotonic_ns() : 0;
}

bool Client::answer(const Request& request)
{
    switch (request.verb) {
    case Verb::exit:
        return false;
    case Verb::nothing:
        break;
    case Verb::help:
        wire_.send(kHelp);
        break;
    case Verb::version:
        wire_.send(std::to_string(kMajor) + "." + std::to_string(kMinor) + "." + kGitTag + "\n");
        break;
    case Verb::print:
        print();
        break;
    case Verb::zprint:
        send_number(-EINVAL); // clients then use PRINT
        break;
    case Verb::timeout:
        set_timeout(request.number);
        send_number(0);
        break;
    case Verb::set_buffers:
        set_buffers(request);
        break;
    case Verb::read:
        read_attribute(request);
        break;
    case Verb::write:
        write_attribute(request);
        break;
    case Verb::gettrig:
        get_trigger(request);
        break;
    case Verb::settrig:
        set_trigger(request);
        break;
    case Verb::open:
        open(request);
        break;
    case Verb::close:
        close(request);
        break;
    case Verb::readbuf:
        read_buffer(request);
        break;
    case Verb::writebuf:
        write_buffer(request);
        break;
    }
    return true;
}

void Client::send_number(std::int64_t number)
{
    wire_.send(std::to_string(number) + "\n");
}

void Client::print()
{
    const std::string xml = xml_of(*state_.renew_tree());
    wire_.send(std::to_string(xml.size()) + "\n" + xml + "\n");
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
        send_number(-error);
    else
        wire_.send(std::to_string(value.size()) + "\n" + value + "\n");
}

// Returns all attributes of an owner. Each one consists of the length of its value in bytes, or a
// negative errno (32 bits, big-endian), and of the value, padded to four bytes.
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

void Client::write_attribute(const Request& request)
{
    if (request.number > kLongestValue) { // the bytes that follow are not a command
        send_number(-E2BIG);
        throw Disconnected(Fault::other, E2BIG, "receive an attribute from", wire_.peer());
    }
    std::string value(static_cast<std::size_t>(request.number), '\0');
    begin_wait();
    wire_.receive(std::as_writable_bytes(std::span(value)), sys::after(Wire::kSilenceNs));
    idle_ns_ = 0;
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    int error = missing(device, request);
    if (error == 0) {
        const std::string file = tree->file_of(*device, request);
        error = request.attribute.empty()      ? ENOSYS
                : file.empty()                 ? ENOENT
                : !may_write(*device, request) ? EACCES
                                               : write_value(file, value);
    }
    send_number(error != 0 ? -error : static_cast<std::int64_t>(value.size()));
}

void Client::get_trigger(const Request& request)
{
    const Tree::Device* device = state_.tree()->find(request.device);
    if (device == nullptr)
        return send_number(-ENODEV);
    std::string name;
    if (const int error = read_value(Tree::trigger_file(*device), name))
        return send_number(-error);
    name.pop_back(); // its NUL
    if (name.empty())
        return send_number(0);
    wire_.send(std::to_string(name.size()) + "\n" + name + "\n");
}

void Client::set_trigger(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    const Tree::Device* trigger = request.trigger.empty() ? nullptr : tree->find(request.trigger);
    if (device == nullptr)
        return send_number(-ENODEV);
    if (trigger == nullptr && !request.trigger.empty())
        return send_number(-ENOENT);
    if (!may_write(*device, request))
        return send_number(-EACCES);
    send_number(
        -write_value(Tree::trigger_file(*device), trigger == nullptr ? "\n" : trigger->node->name));
}

void Client::open(const Request& request)
try {
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return send_number(-ENODEV);
    const Channels channels = channels_of(*device->node, request.mask);
    if (channels.empty() || request.number == 0)
        return send_number(-EINVAL);
    const std::string& id = device->node->id;
    if (readers_.contains(id) || playback_clients_.contains(id))
        return send_number(-EBUSY);
    std::vector<std::string> names;
    for (const auto* channel : channels)
        names.push_back(channel->id);
    if (!channels[0]->output) {
        readers_[id] =
            std::make_unique<Sender>(state_,
                                     state_.open(wire_.peer(), *device,
                                                 {.channels = names,
                                                  .samples = request.number,
                                                  .in_place = wire_.why_copied() == nullptr}),
                                     request.mask, wire_);
        return send_number(0);
    }
    if (!may_write(*device, request))
        return send_number(-EACCES);
    playback_clients_[id] = std::make_unique<PlaybackClient>(
        state_,
        state_.open_playback(
            {.peer = wire_.peer(), .device = id, .channels = names, .cyclic = request.cyclic},
            request.number));
    send_number(0);
} catch (const Disconnected&) {
    throw;
} catch (const Error& error) {
    send_number(-error.code().value());
}

void Client::close(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return send_number(-ENODEV);
    send_number(readers_.erase(device->node->id) + playback_clients_.erase(device->node->id) == 0
                    ? -ENXIO
                    : 0);
}

void Client::read_buffer(const Request& request)
try {
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return send_number(-ENODEV);
    const auto reader = readers_.find(device->node->id);
    if (reader == readers_.end())
        return send_number(-EBADF);
    reader->second->send(request.number, timeout_ns());
} catch (const Disconnected&) {
    throw;
} catch (const Error& error) {
    send_number(-error.code().value());
}

void Client::write_buffer(const Request& request)
try {
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return send_number(-ENODEV);
    const auto player = playback_clients_.find(device->node->id);
    if (player == playback_clients_.end())
        return send_number(-EBADF);
    player->second->play(wire_, request.number, timeout_ns());
} catch (const Disconnected&) {
    throw;
} catch (const Error& error) {
    send_number(-error.code().value());
}

// The number applies to playback only, because all readers of a device share one capture, which has
// its own number of blocks.
void Client::set_buffers(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return send_number(-ENODEV);
    if (request.number == 0)
        return send_number(-EINVAL);
    state_.set_buffers(device->node->id, request.number);
    send_number(0);
}

bool Client::may_write(const Tree::Device& device, const Request& request)
{
    if (state_.write_allowlist.permits(device, request))
        return true;
    state_.note_refused(WriteAllowlist::name_of(device, request));
    return false;
}

// 0 means no time limit.
void Client::set_timeout(std::uint64_t ms)
{
    const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(ms, UINT32_MAX));
    const std::int64_t ns = ms == 0 ? INT64_MAX : most * 1'000'000;
    host_timeout_->replace(own_timeout_ns_, ns);
    own_timeout_ns_ = ns;
}

} // namespace iio_stream::serve
