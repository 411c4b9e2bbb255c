// SPDX-License-Identifier: MIT
#include "serve/client.hpp"

#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::serve {

namespace {

// iiod's, with its words.
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

} // namespace

Client::Client(ServerState& state, Wire& wire, std::atomic<std::int64_t>& idle_ns)
    : state_(state), wire_(wire), idle_ns_(idle_ns), host_timeout_(state.timeout_of(wire.host()))
{}

Client::~Client()
{
    host_timeout_->say(own_timeout_ns_, 0);
}

void Client::run()
{
    for (;;) {
        idle_ns_ = readers_.empty() && players_.empty() ? sys::monotonic_ns() : 0;
        const auto line = wire_.line();
        idle_ns_ = 0;
        if (!line)
            return;
        const auto request = parse_request(*line);
        if (!request)
            say(-EINVAL);
        else if (!answer(*request))
            return;
    }
}

void Client::say(std::int64_t number)
{
    wire_.send(std::to_string(number) + "\n");
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
        say(-EINVAL); // clients then ask for PRINT
        break;
    case Verb::timeout:
        set_timeout(request.number);
        say(0);
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

// 0 is for as long as it takes.
void Client::set_timeout(std::uint64_t ms)
{
    const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(ms, UINT32_MAX));
    const std::int64_t ns = ms == 0 ? INT64_MAX : most * 1'000'000;
    host_timeout_->say(own_timeout_ns_, ns);
    own_timeout_ns_ = ns;
}

void Client::print()
{
    const std::string xml = xml_of(*state_.renew_tree());
    wire_.send(std::to_string(xml.size()) + "\n" + xml + "\n");
}

bool Client::may(const Tree::Device& device, const Request& request)
{
    if (state_.allow.permits(device, request))
        return true;
    state_.note_refused(Allow::name_of(device, request));
    return false;
}

} // namespace iio_stream::serve
