// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/run.hpp"
#include "iio_stream/recording.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace iio_stream::cli {

namespace {

nlohmann::ordered_json text_or_null(const std::string& text)
{
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

std::string json_of(const std::string& file, const Recovery& done)
{
    const nlohmann::ordered_json json{{"schema", 1},
                                      {"command", "recover"},
                                      {"file", file},
                                      {"needed", done.needed},
                                      {"bytes", done.bytes},
                                      {"bytes_cut", done.bytes_before - done.bytes},
                                      {"samples", done.samples},
                                      {"tail", text_or_null(done.tail)},
                                      {"backup", text_or_null(done.backup)}};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string cut_text(const Recovery& done)
{
    if (done.bytes_before == done.bytes)
        return "";
    const std::string bytes = human_bytes(static_cast<double>(done.bytes_before - done.bytes));
    return done.tail.empty() ? "; freed " + bytes + " that were reserved and never written"
                             : "; cut off " + bytes + " that may not be samples";
}

} // namespace

int recover_command(std::vector<std::string> arguments)
{
    Parser parser("recover", "Repairs a recording after an interruption: a crash, a power cut.",
                  "iio-stream record sim: rate=0 capture.sigmf-meta overwrite=on --bytes 1Mi && "
                  "iio-stream recover capture.sigmf-meta");
    std::string file, format, json;
    parser.app().add_option("file", file, "the recording")->type_name("FILE")->required();
    parser.app()
        .add_option("--format", format, "format of raw samples, if the name does not say it")
        ->type_name("FORMAT");
    parser.app().add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));
    const Recovery done = recover_recording(file, format);
    if (!json.empty())
        print_json(json_of(file, done), json);
    else if (!done.needed)
        std::printf("%s: complete, nothing to recover\n", file.c_str());
    else
        std::printf("%s: recovered %llu samples, %s%s\n", file.c_str(),
                    static_cast<unsigned long long>(done.samples),
                    human_bytes(static_cast<double>(done.bytes)).c_str(), cut_text(done).c_str());
    if (json.empty() && !done.tail.empty())
        std::printf("%s: keeps what was cut off\n", done.tail.c_str());
    if (json.empty() && !done.backup.empty())
        std::printf("%s: keeps the previous metadata\n", done.backup.c_str());
    return 0;
}

} // namespace iio_stream::cli
