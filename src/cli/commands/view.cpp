// SPDX-License-Identifier: MIT
// view: a recording or a live source as a spectrum and a waterfall.
#include "cli/command.hpp"
#include "cli/output/exit_status.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "cli/parsing/parse_endpoints.hpp"
#include "cli/view/frame_reader.hpp"
#include "cli/view/spectrum.hpp"
#include "cli/view/spectrum_rows.hpp"
#include "cli/view/terminal_picture.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/printable.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <limits>
#include <optional>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBins = 1024;
constexpr std::size_t kFramesPerBlock = 8; // of a live source
constexpr auto kRefresh = 100ms;
constexpr double kAxisStep = 0.01; // cycles per sample that the axis distinguishes

std::atomic<int> g_view_signals{0};

void end_view(int)
{
    if (++g_view_signals > 1)
        ::_exit(130);
}

struct ViewOptions {
    std::vector<std::string> words;
    std::string output, samples, duration, channel, bins, centre;
};

struct TerminalSize {
    std::size_t columns = 80, lines = 24;
};

TerminalSize terminal_size()
{
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return {};
    return {size.ws_col, size.ws_row};
}

bool is_file(const Uri& uri)
{
    struct stat status {};
    return uri.scheme == "file" && uri.rest != "-" &&
           (::stat(uri.rest.c_str(), &status) != 0 || S_ISREG(status.st_mode) ||
            S_ISDIR(status.st_mode));
}

/// One view of one source.
class View {
public:
    View(const PipelineConfig& config, const std::string& channel, std::size_t bins,
         std::optional<double> centre)
        : reader_(config),
          name_(is_file(config.source) ? config.source.rest : config.source.text()),
          rate_(reader_.tuning().rate.value_or(reader_.format().sample_rate)),
          frames_(make_frames(channel, bins)),
          spectrum_(frames_.is_complex(), bins),
          centre_(centre ? *centre : reader_.tuning().frequency.value_or(0))
    {}

    int run_live();
    int run_file();

private:
    FrameReader make_frames(const std::string& channel, std::size_t bins) const
    {
        const FrameReader probe(reader_.format(), channel, 1);
        return {reader_.format(), channel, probe.is_complex() ? bins : 2 * bins};
    }
    TerminalPicture picture(const std::vector<double>& mean) const;
    std::string status(const Stats& stats) const;
    /// Formats a frequency, in cycles per sample, so that a change by `step` is visible.
    std::string frequency_text(double turns, double step) const;
    std::string time_text(double samples) const;
    int finish();

    Reader reader_;
    std::string name_;
    double rate_; ///< 0: not known
    FrameReader frames_;
    Spectrum spectrum_;
    double centre_; ///< Hz
    double peak_turns_ = 0, peak_level_ = 0;
};

std::string View::frequency_text(double turns, double step) const
{
    static constexpr std::array<const char*, 4> kUnits{"Hz", "kHz", "MHz", "GHz"};
    if (rate_ == 0)
        return formatted("%.*f/sample", std::max(static_cast<int>(-std::log10(step)), 0), turns);
    const double hertz = (frames_.is_complex() ? centre_ : 0) + turns * rate_;
    std::size_t unit = 0;
    double scale = 1;
    for (; unit + 1 < kUnits.size() && std::abs(hertz) >= 1000 * scale; ++unit)
        scale *= 1000;
    const double digits = std::ceil(std::log10(scale / (step * rate_)));
    return formatted("%.*f %s", static_cast<int>(std::clamp(digits, 0.0, 9.0)), hertz / scale,
                     kUnits[unit]);
}

std::string View::time_text(double samples) const
{
    if (rate_ == 0)
        return human_count(samples);
    const double seconds = samples / rate_;
    return seconds > 0 && seconds < 0.1 ? formatted("%.0f ms", seconds * 1e3)
                                        : formatted("%.1f s", seconds);
}

TerminalPicture View::picture(const std::vector<double>& mean) const
{
    TerminalPicture picture;
    picture.title =
        printable(name_) + "  " + printable(frames_.name()) + "  " + reader_.format().name();
    if (rate_ != 0)
        picture.title += "  " + human_count(rate_) + "S/s";
    picture.left = frequency_text(spectrum_.frequency(0), kAxisStep);
    picture.middle = frequency_text(frames_.is_complex() ? 0 : 0.25, kAxisStep);
    picture.right = frequency_text(0.5, kAxisStep);
    picture.spectrum.reserve(mean.size());
    for (const double power : mean)
        picture.spectrum.push_back(decibels(power));
    return picture;
}

std::string View::status(const Stats& stats) const
{
    std::string text = std::to_string(stats.samples) + " samples, ";
    if (stats.gaps.certain + stats.gaps.possible == 0)
        text += "no gaps";
    else
        text += counted(stats.gaps.certain + stats.gaps.possible, "gap") + ", " +
                format_bounds(stats.gaps.lost_min, stats.gaps.lost_max) + " samples lost";
    return text + formatted(", highest %.2f dBFS at ", peak_level_) +
           frequency_text(peak_turns_, 1.0 / static_cast<double>(spectrum_.frame()));
}

int View::finish()
{
    const Summary summary = reader_.close();
    if (summary.error)
        return print_error("view", *summary.error);
    return exit_status(summary);
}

// Draws the file in the terminal once.
int View::run_file()
{
    const TerminalSize size = terminal_size();
    const std::size_t rows = std::max<std::size_t>(waterfall_rows(size.lines - 1), 2);
    SpectrumRows waterfall(spectrum_.bins(), rows, spectrum_.frame());
    std::vector<double> power(spectrum_.bins());
    const FrameReader::EachFrame add = [&](std::span<const std::complex<float>> frame,
                                           std::uint64_t index) {
        std::fill(power.begin(), power.end(), 0);
        spectrum_.add(frame, power);
        waterfall.add(power, index);
    };
    while (g_view_signals == 0) {
        const auto block = reader_.next(kRefresh);
        if (block)
            frames_.read(*block, std::numeric_limits<std::size_t>::max(), add);
        if (block.ended())
            break;
    }
    if (waterfall.count() == 0)
        frames_.read_rest(add);
    const std::vector<double> mean = waterfall.mean();
    const auto highest = std::max_element(mean.begin(), mean.end());
    peak_level_ = decibels(*highest);
    peak_turns_ = spectrum_.frequency(static_cast<std::size_t>(highest - mean.begin()));
    TerminalPicture result = picture(mean);
    for (std::size_t number = 0; number < waterfall.count(); ++number) {
        std::vector<double> levels = waterfall.row(number);
        std::transform(levels.begin(), levels.end(), levels.begin(), decibels);
        result.rows.push_back({std::move(levels), false});
    }
    for (const std::uint64_t loss : frames_.losses())
        if (const std::uint64_t row = loss / waterfall.row_samples(); row < result.rows.size())
            result.rows[static_cast<std::size_t>(row)].loss = true;
    result.first_row = time_text(0);
    result.last_row = time_text(static_cast<double>(waterfall.count() * waterfall.row_samples()));
    result.status = status(reader_.stats());
    print_drawing(stdout, draw(result, size.columns, size.lines - 1, terminal_colors()));
    return finish();
}

// Draws the latest spectra in the terminal, with the newest row of the waterfall at its top, until
// the source ends.
int View::run_live()
{
    const TerminalColors colors = terminal_colors();
    std::deque<TerminalPicture::Row> rows;
    std::vector<double> sum(spectrum_.bins()), mean(spectrum_.bins());
    std::size_t spectra = 0, drawn_lines = 0, known_losses = 0;
    const auto draw_now = [&] {
        const TerminalSize size = terminal_size();
        if (spectra != 0) {
            for (std::size_t bin = 0; bin < sum.size(); ++bin)
                mean[bin] = sum[bin] / static_cast<double>(spectra);
            std::vector<double> levels(mean.size());
            std::transform(mean.begin(), mean.end(), levels.begin(), decibels);
            rows.push_front({std::move(levels), frames_.losses().size() > known_losses});
            known_losses = frames_.losses().size();
            rows.resize(std::min(rows.size(), waterfall_rows(size.lines - 1)));
        }
        const auto highest = std::max_element(mean.begin(), mean.end());
        peak_level_ = decibels(*highest);
        peak_turns_ = spectrum_.frequency(static_cast<std::size_t>(highest - mean.begin()));
        TerminalPicture now = picture(mean);
        now.rows.assign(rows.begin(), rows.end());
        now.first_row = "now";
        now.last_row = formatted("-%.1fs", static_cast<double>(rows.size()) *
                                               std::chrono::duration<double>(kRefresh).count());
        now.status = status(reader_.stats());
        // Each picture replaces the one before it.
        std::string text = drawn_lines == 0 ? "" : formatted("\033[%zuA\r\033[J", drawn_lines);
        text += draw(now, size.columns, size.lines - 1, colors);
        drawn_lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        print_drawing(stdout, text);
        std::fill(sum.begin(), sum.end(), 0);
        spectra = 0;
    };
    auto due = std::chrono::steady_clock::now() + kRefresh;
    while (g_view_signals == 0) {
        const auto block = reader_.next(kRefresh);
        if (block)
            frames_.read(*block, kFramesPerBlock,
                         [&](std::span<const std::complex<float>> frame, std::uint64_t) {
                             spectrum_.add(frame, sum);
                             ++spectra;
                         });
        if (block.ended())
            break;
        if (const auto now = std::chrono::steady_clock::now(); now >= due) {
            draw_now();
            due = now + kRefresh;
        }
    }
    draw_now();
    return finish();
}

// Runs Python's view, which draws PNG files and windows. Returns its exit status, or nullopt if the
// package or matplotlib is missing.
std::optional<int> run_python(const std::vector<std::string>& arguments)
{
    const auto run = [](std::vector<std::string> words) {
        std::vector<char*> pointers;
        for (std::string& word : words)
            pointers.push_back(word.data());
        pointers.push_back(nullptr);
        pid_t process = 0;
        if (::posix_spawnp(&process, "python3", nullptr, nullptr, pointers.data(), environ) != 0)
            return 127;
        int status = 0;
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : 130;
    };
    constexpr int kMissing = 3;
    const int found = run({"python3", "-c",
                           "import importlib.util as u, sys\n"
                           "sys.exit(0 if u.find_spec('iio_stream') and "
                           "u.find_spec('matplotlib') else 3)"});
    if (found == kMissing || found == 127)
        return std::nullopt;
    std::vector<std::string> words{"python3", "-m", "iio_stream.view"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run(std::move(words));
}

[[noreturn]] void fail_without_python()
{
    throw Error(Fault::other, ENOENT, "draw", "a PNG file",
                "python3 does not find the packages iio_stream and matplotlib",
                "pip install '.[view]' in the project's folder installs both; after script/build, "
                "PYTHONPATH=build/python is the first one; a terminal needs neither");
}

std::vector<std::string> python_arguments(const ViewOptions& options)
{
    std::vector<std::string> words;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty())
            words.insert(words.end(), {name, value});
    };
    add("--samples", options.samples);
    add("--duration", options.duration);
    add("--channel", options.channel);
    add("--bins", options.bins);
    add("--centre", options.centre);
    words.emplace_back("--");
    words.insert(words.end(), options.words.begin(), options.words.end());
    return words;
}

// The default name of a recording's picture: "capture.view.png" beside "capture.sigmf-meta".
std::string picture_name(const std::string& recording)
{
    const std::size_t slash = recording.rfind('/');
    const std::size_t dot = recording.rfind('.');
    const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    return recording.substr(0, has_suffix ? dot : std::string::npos) + ".view.png";
}

int save_picture(const ViewOptions& options, const std::string& name)
{
    std::vector<std::string> arguments{"--output", name};
    const std::vector<std::string> rest = python_arguments(options);
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const std::optional<int> status = run_python(arguments);
    if (!status)
        fail_without_python();
    if (*status == 0)
        print_line(stdout, "%s", name.c_str());
    return *status;
}

bool has_display()
{
    return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

std::size_t parse_bins(const std::string& text)
{
    const std::uint64_t bins = parse_size("--bins", text);
    if (bins < 16 || bins > 65536 || !std::has_single_bit(bins))
        fail_usage("--bins " + text + " is not a power of two from 16 to 65536",
                   "1024 suits a terminal");
    return static_cast<std::size_t>(bins);
}

} // namespace

int view_command(std::vector<std::string> arguments)
{
    Parser parser("view",
                  "Shows a recording, or a live source until Ctrl-C, as a spectrum and a\n"
                  "waterfall. A live source is shown in the terminal. A recording is shown in a\n"
                  "window if there is a display, and otherwise in the terminal. Without a display\n"
                  "and a terminal, a PNG file is written beside it. Windows and PNG files need\n"
                  "Python with iio_stream and matplotlib.",
                  "iio-stream record sim: rate=1M a.sigmf-meta overwrite=on --duration 2s && "
                  "iio-stream view a.sigmf-meta");
    ViewOptions options;
    parser.app()
        .add_option("source", options.words, "the recording or source, and its options")
        ->type_name("SOURCE|FILE [KEY=VALUE]…");
    parser.app()
        .add_option("-o,--output", options.output, "write the picture to this PNG file")
        ->type_name("FILE.png");
    parser.app()
        .add_option("--samples", options.samples, "show so many samples (64k)")
        ->type_name("N");
    parser.app()
        .add_option("--duration", options.duration,
                    "show so much time (200ms); for -o and a live source, 1s by default")
        ->type_name("TIME");
    parser.app()
        .add_option("--channel", options.channel,
                    "a real channel, or one of an I/Q pair; the first by default")
        ->type_name("NAME");
    parser.app()
        .add_option("--bins", options.bins, "points of the spectrum, a power of two; 1024")
        ->type_name("N");
    parser.app()
        .add_option("--centre", options.centre,
                    "frequency of 0 Hz of the samples; that of the radio or recording by default")
        ->type_name("FREQUENCY");
    parser.parse(std::move(arguments));
    const std::vector<Uri> uris = parse_endpoints(options.words);
    if (uris.size() != 1)
        fail_usage(uris.empty() ? "view: no source is given"
                                : "view shows one source, but " + uris[0].text() +
                                      " is followed by " + uris[1].text(),
                   parser.such_as());
    const std::size_t bins = options.bins.empty() ? kBins : parse_bins(options.bins);
    PipelineConfig config{.source = uris[0], .on_full = OnFull::drop};
    if (!options.samples.empty())
        config.samples = parse_size("--samples", options.samples);
    if (!options.duration.empty())
        config.duration = parse_duration("--duration", options.duration);
    if (!options.output.empty()) {
        if (!options.output.ends_with(".png"))
            fail_usage("-o " + options.output + ": pictures are PNG files", "NAME.png");
        refuse_recording("-o", options.output, {});
        return save_picture(options, options.output);
    }
    const bool file = is_file(uris[0]), on_terminal = ::isatty(STDOUT_FILENO) != 0;
    if (file && has_display()) {
        std::vector<std::string> window{"--window"};
        const std::vector<std::string> rest = python_arguments(options);
        window.insert(window.end(), rest.begin(), rest.end());
        const std::optional<int> status = run_python(window);
        if (status)
            return *status;
    }
    if (file && !on_terminal)
        return save_picture(options, picture_name(uris[0].rest));
    if (!on_terminal)
        fail_usage("view: " + uris[0].text() +
                       " is shown in a terminal, and stdout is not a terminal",
                   "-o FILE.png writes a picture");
    on_end_signals(&end_view);
    config.on_full = file ? OnFull::block : OnFull::drop;
    std::optional<double> centre;
    if (!options.centre.empty())
        centre = parse_rate("--centre", options.centre);
    View view(config, options.channel, bins, centre);
    return file ? view.run_file() : view.run_live();
}

} // namespace iio_stream::cli
