// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/exit_status.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/recording.hpp"

#include <cstdio>

namespace iio_stream::cli {

namespace {

Json text_or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json count_or_null(std::uint64_t count)
{
    return count == kUnknown ? Json(nullptr) : Json(count);
}

std::string json_of(const std::string& file, const Recovery& done)
{
    const Json json{{"schema", 1},
                    {"command", "recover"},
                    {"file", file},
                    {"needed", done.needed},
                    {"bytes", done.bytes},
                    {"bytes_cut", done.bytes_before - done.bytes},
                    {"samples", done.samples},
                    {"missing_samples", count_or_null(done.missing)},
                    {"next_part", text_or_null(done.next_part)},
                    {"tail", text_or_null(done.tail)},
                    {"backup", text_or_null(done.backup)}};
    return json_text(json);
}

std::string cut_text(const Recovery& done)
{
    if (done.bytes_before == done.bytes)
        return "";
    const std::string bytes = human_bytes(static_cast<double>(done.bytes_before - done.bytes));
    if (!done.tail.empty())
        return "; cut off " + bytes + " that might not be samples";
    return "; freed " + bytes +
           (done.missing == 0 ? " that was reserved but never written" : " without samples");
}

void warn_of_missing(const std::string& file, const Recovery& done)
{
    std::string text = done.missing == kUnknown
                           ? "an unknown number of samples might be missing at its end"
                           : std::to_string(done.missing) +
                                 (done.missing == 1 ? " sample is" : " samples are") +
                                 " missing at its end because they did not reach the disk";
    if (!done.next_part.empty())
        text += "; later parts of the recording follow: " + done.next_part;
    print_line(stderr, "iio-stream: recover: warning: %s: %s", file.c_str(), text.c_str());
}

} // namespace

int recover_command(std::vector<std::string> arguments)
{
    Parser parser("recover",
                  "Repairs a recording after an interruption, such as a crash or a power cut.",
                  "iio-stream record sim: rate=0 capture.sigmf-meta overwrite=on --bytes 1Mi && "
                  "iio-stream recover capture.sigmf-meta");
    std::string file, format, json;
    parser.app().add_option("file", file, "the recording")->type_name("FILE")->required();
    parser.app()
        .add_option("--format", format, "format of raw samples, if the name does not give it")
        ->type_name("FORMAT");
    parser.app().add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));
    const Recovery done = recover_recording(file, format);
    if (!json.empty())
        print_json(json_of(file, done), json);
    else if (!done.needed)
        print_line(stdout, "%s: complete, nothing to recover", file.c_str());
    else
        print_line(stdout, "%s: recovered %llu samples, %s%s", file.c_str(),
                   static_cast<unsigned long long>(done.samples),
                   human_bytes(static_cast<double>(done.bytes)).c_str(), cut_text(done).c_str());
    if (json.empty() && !done.tail.empty())
        print_line(stdout, "%s: contains the bytes that were cut off", done.tail.c_str());
    if (json.empty() && !done.backup.empty())
        print_line(stdout, "%s: contains the previous metadata", done.backup.c_str());
    if (done.missing == 0)
        return 0;
    warn_of_missing(file, done);
    return kSamplesLost;
}

} // namespace iio_stream::cli
