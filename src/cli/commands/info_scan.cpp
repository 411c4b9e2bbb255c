// SPDX-License-Identifier: MIT
#include "cli/commands/info_scan.hpp"

#include "cli/output/print.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/scan.hpp"
#include "iio_stream/usb.hpp"

#include <algorithm>
#include <vector>

namespace iio_stream::cli {

namespace {

void print_context(const ScannedContext& board)
{
    print_line(stdout, "%s  %s", board.uri.c_str(), board.description.c_str());
    for (const std::string& name : board.sources)
        print_line(stdout, "  source  iio:%s uri=%s", name.c_str(), board.uri.c_str());
    for (const std::string& name : board.sinks)
        print_line(stdout, "  sink    iio:%s uri=%s", name.c_str(), board.uri.c_str());
    if (!board.error.empty())
        print_line(stdout, "  not readable: %s", board.error.c_str());
}

// Prints the boards that run iio-stream with an ffs: endpoint. Returns their number.
std::size_t print_streaming_boards()
try {
    const std::vector<UsbBoard> boards = usb_boards();
    for (const UsbBoard& board : boards)
        print_line(stdout, "%s  runs iio-stream", board.endpoint().text().c_str());
    return boards.size();
} catch (const Error& error) {
    print_line(stdout, "boards that run iio-stream: %s", error.what());
    return 0;
}

} // namespace

int scan_for_boards(const std::string& uri)
{
    const ContextScan scan = scan_contexts(uri);
    for (const ScannedContext& board : scan.found)
        print_context(board);
    if (scan.found.size() + print_streaming_boards() != 0)
        return 0;
    print_line(stdout, "no board answered:");
    for (const std::string& place : scan.not_found)
        print_line(stdout, "  %s", place.c_str());
    print_line(stdout,
               "Is the board on, and has it finished booting? On USB, lsusb lists a Pluto as "
               "0456:b673.");
    print_line(stdout, "On the network, iiod must run on it (port 30431): iio-stream info --uri "
                       "ip:ADDRESS asks another address.");
    return 0;
}

} // namespace iio_stream::cli
