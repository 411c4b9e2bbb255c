// SPDX-License-Identifier: MIT
#include "zmq/curve.hpp"

#include "iio_stream/error.hpp"
#include "sys/named_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/stat.h>
#include <vector>

namespace iio_stream::zmq {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTextSize = 40; ///< of a key, in Z85
constexpr const char* kHint = "python3 -c 'import zmq.auth; zmq.auth.create_certificates(\".\", "
                              "\"NAME\")' makes NAME.key and NAME.key_secret";

// Returns TEXT from a line NAME = "TEXT"; empty for any other line.
std::string quoted(const std::string& line, const std::string& name)
{
    const std::size_t at = line.find_first_not_of(" \t");
    if (at == line.npos || line.compare(at, name.size(), name) != 0)
        return {};
    const std::size_t begin = line.find('"'), end = line.rfind('"');
    return begin == line.npos || end == begin ? "" : line.substr(begin + 1, end - begin - 1);
}

std::string text_of(const CurveKey& key)
{
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

} // namespace

CurveKey read_key(const std::string& option, const std::string& path, bool secret)
{
    std::ifstream file(path);
    struct stat status {};
    if (!file || ::stat(path.c_str(), &status) < 0)
        fail_usage(option + "=" + path + ": " + std::strerror(errno), kHint);
    if (secret && (status.st_mode & 077) != 0)
        fail_usage(option + "=" + path + ": other users can read the secret key",
                   "chmod 600 " + path);
    const std::string name = secret ? "secret-key" : "public-key";
    CurveKey key;
    for (std::string line; std::getline(file, line);)
        if (const std::string text = quoted(line, name);
            text.size() == kTextSize &&
            ::zmq_z85_decode(reinterpret_cast<std::uint8_t*>(key.data()), text.c_str()) != nullptr)
            return key;
    fail_usage(option + "=" + path + " has no " + name, kHint);
}

std::set<CurveKey> read_public_keys(const std::string& option, const std::string& path)
{
    std::set<CurveKey> keys;
    std::error_code failed;
    if (!fs::is_directory(path, failed))
        return {read_key(option, path, false)};
    for (const auto& entry : fs::directory_iterator(path, failed))
        if (entry.path().extension() == ".key")
            keys.insert(read_key(option, entry.path(), false));
    if (keys.empty())
        fail_usage(option + "=" + path + ": no certificate (*.key) in that folder", kHint);
    return keys;
}

void secure(Socket& socket, const Curve& curve, bool bind)
{
    if (bind)
        socket.set(ZMQ_CURVE_SERVER, 1);
    else
        socket.set(ZMQ_CURVE_SERVERKEY, text_of(curve.server));
    socket.set(ZMQ_CURVE_PUBLICKEY, text_of(curve.public_key));
    socket.set(ZMQ_CURVE_SECRETKEY, text_of(curve.secret_key));
}

// libzmq sends a request to this address (ZAP, RFC 27) before a handshake ends. If nothing is bound
// to it, libzmq admits all clients.
Authenticator::Authenticator(const Context& context, const Curve& curve)
    : clients_(curve.clients), requests_(context, ZMQ_REP, "inproc://zeromq.zap.01")
{
    requests_.open(true);
    thread_ = std::thread([this] {
        const sys::NamedThread name("iios-zmq-keys");
        run();
    });
}

Authenticator::~Authenticator()
{
    over_.set();
    thread_.join();
}

void Authenticator::run()
{
    try {
        while (!over_.is_set()) {
            while (requests_.can(ZMQ_POLLIN))
                answer();
            pollfd fds[] = {{requests_.fd(), POLLIN, 0}, {over_.fd(), POLLIN, 0}};
            (void)::poll(fds, 2, -1);
        }
    } catch (...) { // no client is admitted then
    }
}

// The parts of a request are version, request ID, domain, address, identity, mechanism and the
// client's key. The parts of the reply are version, request ID, status, status text, user name and
// properties.
void Authenticator::answer()
{
    std::vector<std::vector<std::byte>> request;
    for (bool more = true; more;) {
        Message part;
        if (!requests_.receive(part))
            return;
        more = part.more_follow();
        request.emplace_back(part.bytes().begin(), part.bytes().end());
    }
    CurveKey key{};
    bool known = request.size() == 7 && request[6].size() == key.size();
    if (known) {
        std::copy(request[6].begin(), request[6].end(), key.begin());
        known = clients_.contains(key);
    }
    const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
    const std::span<const std::byte> id =
        request.size() > 1 ? std::span<const std::byte>(request[1]) : std::span<const std::byte>();
    const std::array<std::span<const std::byte>, 6> reply{
        bytes("1.0"), id, bytes(known ? "200" : "400"), bytes(known ? "" : "unknown"), {}, {}};
    for (std::size_t i = 0; i < reply.size(); ++i) {
        Message part(reply[i]);
        (void)requests_.send(part, i + 1 < reply.size() ? ZMQ_SNDMORE : 0);
    }
}

} // namespace iio_stream::zmq
