// SPDX-License-Identifier: MIT
// serve: serves iiod's protocol to unchanged clients with this engine.
#include "cli/command.hpp"
#include "cli/commands/announce.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/server.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

namespace iio_stream::cli {

namespace {

constexpr std::size_t kLeastMemory = 64 << 10, kMostClients = 65536;

std::atomic<Server*> g_server{nullptr};
std::atomic<int> g_ends{0};

void end_server(int)
{
    if (++g_ends > 1)
        ::_exit(130);
    if (Server* server = g_server.load())
        server->request_stop();
}

std::string lost(const GapTotals& gaps)
{
    const std::string most =
        gaps.lost_max == kUnknown ? "any number" : std::to_string(gaps.lost_max);
    return counted(gaps.certain, "gap") + ", " + std::to_string(gaps.possible) + " possible; " +
           std::to_string(gaps.lost_min) + (gaps.lost_min == gaps.lost_max ? "" : " to " + most) +
           " samples lost";
}

std::string lost_at_restarts(const GapTotals& gaps)
{
    return gaps.certain + gaps.possible == 0
               ? ""
               : ", " + format_bounds(gaps.lost_min, gaps.lost_max) + " lost at restarts";
}

/// Reports on stderr what the protocol cannot express: losses, and refused writes.
class Log {
public:
    void show(const ServerStats& stats)
    {
        for (const ServedDevice& device : stats.devices) {
            const std::string text = lost(device.gaps);
            ShownDevice& before = devices_[device.id];
            if (before.losses == text)
                continue;
            before.losses = text;
            if (device.gaps.certain + device.gaps.possible == 0)
                continue;
            // The device waits before it loses samples, so the waits since the last loss count.
            print_line(stderr, "iio-stream: serve: %s: %s so far%s", device.id.c_str(),
                       text.c_str(),
                       device.waits == before.waits ? "" : "; its readers are too slow");
            before.waits = device.waits;
        }
        for (const ServedReader& reader : stats.readers)
            show(reader);
        for (const ServedPlayer& player : stats.players)
            show(player);
        if (stats.descriptor_shortages != 0 && !std::exchange(told_of_shortage_, true))
            print_line(stderr,
                       "iio-stream: serve: no file descriptor is left, so new connections wait "
                       "until a client leaves; `ulimit -n` raises the limit");
        for (const std::string& name : stats.refused)
            if (refused_.insert(name).second)
                print_line(stderr, "iio-stream: serve: refused to %s (--allow %s permits it)",
                           name.starts_with("play:") ? ("play on " + name.substr(5)).c_str()
                                                     : ("write " + name).c_str(),
                           name.c_str());
    }

private:
    void show(const ServedReader& reader)
    {
        ServedReader& before = readers_[reader.number];
        const char* const so_far = reader.ended ? "" : " so far";
        if (reader.dropped_samples > before.dropped_samples)
            print_line(stderr, "iio-stream: serve: %s: %s was too slow for %llu samples%s",
                       reader.device.c_str(), reader.peer.c_str(),
                       static_cast<unsigned long long>(reader.dropped_samples), so_far);
        const auto starts = [](const GapTotals& gaps) { return gaps.certain + gaps.possible; };
        if (starts(reader.restarts) > starts(before.restarts))
            print_line(stderr,
                       "iio-stream: serve: %s: the capture was restarted for another reader's "
                       "channels; %s missed %s samples%s",
                       reader.device.c_str(), reader.peer.c_str(),
                       format_bounds(reader.restarts.lost_min, reader.restarts.lost_max).c_str(),
                       so_far);
        before = reader;
        if (readers_.size() > 2 * ServerStats::kMostEnded) // the oldest readers have ended
            readers_.erase(readers_.begin());
    }

    void show(const ServedPlayer& player)
    {
        std::uint64_t& before = players_[player.number];
        if (player.underflows > before)
            print_line(stderr, "iio-stream: serve: %s: %llu underflows%s: %s sent too little",
                       player.device.c_str(), static_cast<unsigned long long>(player.underflows),
                       player.ended ? "" : " so far", player.peer.c_str());
        before = player.underflows;
        if (players_.size() > 2 * ServerStats::kMostEnded)
            players_.erase(players_.begin());
    }

    struct ShownDevice {
        std::string losses;
        std::uint64_t waits = 0;
    };
    std::map<std::string, ShownDevice> devices_;
    std::map<std::uint64_t, ServedReader> readers_;  ///< as last shown, by number
    std::map<std::uint64_t, std::uint64_t> players_; ///< underflows, by the player's number
    std::set<std::string> refused_;
    bool told_of_shortage_ = false;
};

Json json_of(const Hop& hop)
{
    return {{"from", hop.from},
            {"to", hop.to},
            {"mechanism", hop.mechanism},
            {"copies", hop.copies},
            {"reason", or_null(hop.reason)}};
}

Json json_of(const std::vector<Hop>& route)
{
    Json json = Json::array();
    for (const Hop& hop : route)
        json.push_back(json_of(hop));
    return json;
}

Json json_of(const ServedDevice& device)
{
    Json json{{"device", device.id},
              {"readers", device.readers},
              {"channels", device.channels},
              {"starts", device.starts},
              {"samples", device.samples},
              {"blocks", device.blocks},
              {"gaps", gaps_json(device.gaps)},
              {"waits", device.waits}};
    json["route"] = json_of(device.route);
    return json;
}

Json json_of(const ServedReader& reader)
{
    return {{"number", reader.number},
            {"peer", reader.peer},
            {"device", reader.device},
            {"channels", reader.channels},
            {"samples", reader.samples},
            {"dropped_samples", reader.dropped_samples},
            {"restarts", gaps_json(reader.restarts)},
            {"ended", reader.ended},
            {"hop", json_of(reader.hop)}};
}

Json json_of(const ServedPlayer& player)
{
    return {{"number", player.number}, {"peer", player.peer},
            {"device", player.device}, {"channels", player.channels},
            {"cyclic", player.cyclic}, {"samples", player.samples},
            {"played", player.played}, {"underflows", player.underflows},
            {"ended", player.ended},   {"route", json_of(player.route)}};
}

std::string json_of(const ServerStats& stats)
{
    Json json{{"schema", 1},
              {"command", "serve"},
              {"version", kVersion},
              {"clients", stats.clients},
              {"connections", stats.connections},
              {"turned_away", stats.turned_away},
              {"descriptor_shortages", stats.descriptor_shortages}};
    json["devices"] = json["readers"] = Json::array();
    for (const ServedDevice& device : stats.devices)
        json["devices"].push_back(json_of(device));
    for (const ServedReader& reader : stats.readers)
        json["readers"].push_back(json_of(reader));
    json["players"] = Json::array();
    for (const ServedPlayer& player : stats.players)
        json["players"].push_back(json_of(player));
    json["refused"] = stats.refused;
    return json_text(json);
}

void print(const ServerStats& stats)
{
    print_line(stdout, "serve: %s, %llu turned away",
               counted(stats.connections, "connection").c_str(),
               static_cast<unsigned long long>(stats.turned_away));
    for (const ServedDevice& device : stats.devices)
        print_line(stdout, "  %s  %llu samples captured in %s; %s", device.id.c_str(),
                   static_cast<unsigned long long>(device.samples),
                   counted(device.starts, "start").c_str(), lost(device.gaps).c_str());
    for (const ServedReader& reader : stats.readers)
        print_line(stdout, "  %s → %s  %llu samples sent, %llu dropped%s; %s",
                   reader.device.c_str(), reader.peer.c_str(),
                   static_cast<unsigned long long>(reader.samples),
                   static_cast<unsigned long long>(reader.dropped_samples),
                   lost_at_restarts(reader.restarts).c_str(), copies_text(reader.hop).c_str());
    for (const ServedPlayer& player : stats.players)
        print_line(
            stdout, "  %s → %s  %llu samples received, %llu underflows%s", player.peer.c_str(),
            player.device.c_str(), static_cast<unsigned long long>(player.samples),
            static_cast<unsigned long long>(player.underflows), player.cyclic ? ", repeated" : "");
}

ServerStats serve(const ServerConfig& config, std::chrono::nanoseconds limit, bool announce,
                  bool quiet)
{
    Server server(config);
    std::optional<Announcement> announcement;
    if (announce)
        announcement.emplace(server.addresses());
    g_server = &server;
    on_end_signals(&end_server);
    if (!quiet)
        for (const std::string& address : server.addresses())
            print_line(stderr, "iio-stream: serve: listening at %s", address.c_str());
    Log log;
    const auto start = std::chrono::steady_clock::now();
    for (bool over = false; !over;) {
        const auto left =
            limit - std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
        over = left.count() <= 0 ||
               server.serve(std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(1)));
        if (!quiet)
            log.show(server.stats());
        if (announcement && !over)
            announcement->check();
    }
    g_server = nullptr;
    return server.stats();
}

} // namespace

int serve_command(std::vector<std::string> arguments)
{
    Parser parser("serve",
                  "Serves this machine's IIO devices to programs written for libiio 0.x on other "
                  "machines, which use\n"
                  "them as if iiod served them (ip:HOST). Each device is captured once for all of "
                  "its readers. Losses are\n"
                  "reported on stderr. By default only this machine can connect, and no client may "
                  "write or play.",
                  "iio-stream serve --listen :30432 --allow 'ad9361-phy/*' --duration 1s");
    ServerConfig config;
    std::string clients, duration, memory, send, json;
    bool quiet = false, announce = false;
    CLI::App& app = parser.app();
    app.add_option("--listen", config.listen,
                   "where to listen: * is all addresses; *:PORT; HOST:PORT; :PORT is this machine "
                   "alone; default localhost:30431")
        ->type_name("ADDRESS");
    app.add_option(
           "--allow", config.allow,
           "what clients may write: DEVICE/[CHANNEL/]NAME, buffer:…, debug:…, trigger:DEVICE, and\n"
           "play:DEVICE for samples; * and ? are wildcards; "
           "may be repeated")
        ->type_name("RULE")
        ->take_all()
        ->expected(1);
    app.add_option("--clients", clients, "connections at one time; default 64")->type_name("N");
    app.add_option("--memory", memory,
                   "memory for the blocks of each streaming device; default 64Mi")
        ->type_name("SIZE");
    app.add_option("--send", send,
                   "auto: network cards read the blocks in place where possible; copy: never")
        ->type_name("auto|copy");
    app.add_flag("--announce", announce,
                 "announce the server with Avahi, so that iio_info -S finds it");
    app.add_option("--duration", duration, "end after this time (10s, 5min)")->type_name("TIME");
    app.add_flag("--json", json, "print the summary as one JSON object, or write it to =FILE");
    app.add_flag("--quiet,-q", quiet, "report nothing on stderr but errors");
    parser.parse(std::move(arguments));
    if (!memory.empty())
        config.memory = parse_memory_size("--memory", memory);
    if (config.memory < kLeastMemory)
        fail_usage("--memory " + memory + " is less than 64Ki");
    if (!clients.empty())
        config.clients = parse_memory_size("--clients", clients);
    if (config.clients == 0 || config.clients > kMostClients)
        fail_usage("--clients " + clients + " is not a number from 1 to " +
                   std::to_string(kMostClients));
    if (!send.empty() && send != "auto" && send != "copy")
        fail_usage("--send " + send + " is not auto or copy");
    config.send_in_place = send != "copy";
    const auto limit = duration.empty() ? kForever : parse_duration("--duration", duration);
    const ServerStats stats = serve(config, limit, announce, quiet);
    if (!json.empty() && json != "false")
        print_json(json_of(stats), json);
    else if (!quiet)
        print(stats);
    return 0;
}

} // namespace iio_stream::cli
