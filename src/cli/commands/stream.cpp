// SPDX-License-Identifier: MIT
// stream, record and play: one source and its sinks, until stopped.
#include "cli/parsing/parse_endpoints.hpp"
#include "cli/run.hpp"
#include "iio_stream/endpoint.hpp"

namespace iio_stream::cli {

namespace {

PipelineConfig pipeline(const std::vector<std::string>& words, const StreamOptions& options,
                        const Parser& parser)
{
    const std::vector<Uri> uris = parse_endpoints(words);
    if (uris.size() < 2)
        fail_usage(uris.empty() ? "no source and no sink given" : uris[0].text() + " has no sink",
                   parser.such_as());
    return options.config(uris);
}

} // namespace

int stream_command(std::vector<std::string> arguments)
{
    Parser parser("stream", "Moves samples from a source to its sinks until told to stop.",
                  "iio-stream stream sim: pattern=ramp rate=1M verify:ramp --duration 2s");
    StreamOptions options;
    options.add_to(parser.app(), "SOURCE [KEY=VALUE]… SINK [KEY=VALUE]… [SINK…]");
    bool and_flag = false;
    parser.app().add_flag("--and", and_flag,
                          "start another source and its sinks together with the first");
    // The words after each --and form a separate pipeline. Options apply to all pipelines.
    std::vector<PipelineConfig> pipelines;
    const auto parts = split_at_and(arguments);
    std::vector<std::vector<std::string>> words;
    for (const auto& part : parts) {
        options.words.clear();
        parser.app().clear();
        parser.parse(part);
        words.push_back(options.words);
    }
    for (const auto& part : words)
        pipelines.push_back(pipeline(part, options, parser));
    return report("stream", run("stream", pipelines, options), options);
}

int record_command(std::vector<std::string> arguments)
{
    Parser parser("record", "Records a source into a file.",
                  "iio-stream record sim: rate=1M capture.sigmf-meta overwrite=on --duration 2s");
    StreamOptions options;
    options.add_to(parser.app(), "SOURCE [KEY=VALUE]… FILE [KEY=VALUE]…");
    parser.parse(std::move(arguments));
    const PipelineConfig config = pipeline(options.words, options, parser);
    if (config.sinks.size() != 1)
        fail_usage("record takes one source and one file, but " + config.source.text() +
                       " is followed by " + config.sinks[0].text() + ", " + config.sinks[1].text() +
                       " …",
                   "channels are an option of the device, channels=voltage0,voltage1; stream takes "
                   "several sinks");
    return report("record", run("record", {config}, options), options);
}

int play_command(std::vector<std::string> arguments)
{
    Parser parser(
        "play",
        "Plays a file on a device, at the recording's sample rate if it has one; rate= after\n"
        "the device overrides it. loop=on after the file repeats the file. cyclic=on after\n"
        "the device repeats the samples that fit into the blocks: in hardware if one block\n"
        "holds them and the kernel supports it (Linux 7.3), otherwise in software.\n"
        "cyclic=hardware and cyclic=software force one or the other.",
        "iio-stream record sim: rate=1M capture.sigmf-meta overwrite=on --samples 1M && "
        "iio-stream play capture.sigmf-meta null: rate=1M");
    StreamOptions options;
    options.add_to(parser.app(), "FILE [KEY=VALUE]… DEVICE [KEY=VALUE]…");
    parser.parse(std::move(arguments));
    PipelineConfig config = pipeline(options.words, options, parser);
    if (config.sinks.size() != 1)
        fail_usage("play feeds one device", "stream takes several sinks");
    config.sinks[0] = play_sink(config.sinks[0]);
    return report("play", run("play", {config}, options), options);
}

} // namespace iio_stream::cli
