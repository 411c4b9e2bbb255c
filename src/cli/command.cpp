// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include "cli/output/exit_status.hpp"
#include "cli/output/print.hpp"
#include "cli/parsing/option_text.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

namespace iio_stream::cli {

namespace {

/// Shows positional arguments by their form in the usage line and in the list, because they have no
/// name that the user types.
class HelpFormatter final : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* app, std::string name) const override
    {
        for (const CLI::Option* word :
             app->get_options([](const CLI::Option* o) { return o->get_positional(); }))
            name += " " + word->get_type_name();
        return "Usage: " + name + " [OPTION]…\n";
    }
    std::string make_option_name(const CLI::Option* option, bool positional) const override
    {
        return positional ? option->get_type_name()
                          : Formatter::make_option_name(option, positional);
    }
    std::string make_option_opts(const CLI::Option* option) const override
    {
        return option->get_positional() ? "" : Formatter::make_option_opts(option);
    }
};

} // namespace

Parser::Parser(const std::string& name, const std::string& description, const std::string& example)
    : app_(description + "\n\nExample:\n  " + example + "\n", "iio-stream " + name),
      example_(example)
{
    const auto formatter = std::make_shared<HelpFormatter>();
    formatter->label("Positionals", "Words");
    app_.formatter(formatter);
}

namespace {

// Joins "--json out.json" to "--json=out.json". CLI11 takes the value of a flag only after "=", and
// the file name alone would be an endpoint.
void join_json_file(std::vector<std::string>& arguments)
{
    for (std::size_t i = 0; i + 1 < arguments.size() && arguments[i] != "--"; ++i)
        if (arguments[i] == "--json" && arguments[i + 1].ends_with(".json")) {
            arguments[i] += "=" + arguments[i + 1];
            arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
}

// The sole argument with which options_of() makes a command list its options.
constexpr const char* kListOptions = "--list-options";

// Returns whether `key` is the name of the endpoint option `option`, or an abbreviation of that
// name. The user wrote it like an option of the command: "--frequency", "--freq".
bool is_meant(const Option& option, const std::string& key)
{
    constexpr std::size_t kShortest = 3;
    return option.is(key) || (key.size() >= kShortest && option.key.starts_with(key));
}

std::string hint_for(const std::string& name, const std::vector<std::string>& known)
{
    const std::string key = name.substr(2);
    if (nearest(name, known).empty())
        for (const Scheme& scheme : schemes())
            for (const Option& option : options_of(scheme))
                if (is_meant(option, key))
                    return "this is an option of an endpoint and follows it: " + scheme.name +
                           ": " + usage_of(option);
    if (nearest(name, known).empty())
        for (const Command& command : commands())
            for (const CommandOption& option : options_of(command))
                if (option.name == name)
                    return "it is an option of iio-stream " + std::string(command.name);
    return suggest(name, known);
}

// The iio-stream equivalent of a short option of iio_readdev, rtl_sdr or a similar program.
std::string other_programs_option(const CLI::App& app, const std::string& word)
{
    if (word == "-u" && app.get_option_no_throw("--uri") != nullptr)
        return "--uri URI";
    if (app.get_option_no_throw("--samples") == nullptr) // the command does not stream
        return "see --help";
    constexpr std::pair<std::string_view, const char*> kOptions[] = {
        {"u", "uri=URI after iio:DEVICE"},
        {"n", "--samples N; a URI is uri= after iio:DEVICE"},
        {"s", "--samples N"},
        {"b", "--block-size BYTES, where iio_readdev counts samples"},
        {"T", "--timeout TIME, such as 5s"},
        {"c", "cyclic=on after the device"},
        {"f", "frequency=FREQUENCY after the device"},
        {"r", "rate=RATE after the device"},
        {"g", "gain=GAIN after the device"},
        {"o", "the file is a separate argument, after the source and its options"}};
    for (const auto& [letter, ours] : kOptions)
        if (word.substr(1) == letter)
            return ours;
    return "see --help";
}

std::vector<CommandOption> list_of(const CLI::App& app)
{
    std::vector<CommandOption> list;
    for (const CLI::Option* option : app.get_options()) {
        const bool positional = option->get_lnames().empty();
        const std::string name =
            positional ? option->get_name(true) : "--" + option->get_lnames().front();
        const bool flag = option->get_expected_max() == 0 || option->get_type_size_max() == 0;
        list.push_back({name, flag ? "" : option->get_type_name(), option->get_description()});
    }
    return list;
}

} // namespace

std::vector<CommandOption> options_of(const Command& command)
{
    try {
        (void)command.run({kListOptions});
    } catch (const std::vector<CommandOption>& options) {
        return options;
    }
    return {};
}

std::string Parser::such_as() const
{
    const std::size_t last = example_.rfind("&& "); // this command is the last one in its example
    return "such as: " + (last == std::string::npos ? example_ : example_.substr(last + 3));
}

void Parser::parse(std::vector<std::string> arguments)
{
    if (arguments.size() == 1 && arguments[0] == kListOptions)
        throw list_of(app_);
    std::vector<std::string> known;
    for (const CLI::Option* option : app_.get_options())
        for (const std::string& name : option->get_lnames())
            known.push_back("--" + name);
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    for (auto word = arguments.begin(); word != arguments.end(); ++word) {
        const std::string name = word->substr(0, word->find('='));
        if (word->empty() && word != arguments.begin() && word < end &&
            (word - 1)->starts_with("--"))
            fail_usage(*(word - 1) + " is followed by an empty value",
                       "omit it, or give it a value");
        if (!name.starts_with("--") || name.size() == 2)
            continue;
        if (word < end && word->ends_with('=') && word->size() == name.size() + 1)
            fail_usage(name + "= has no value", "omit it, or give it a value");
        const bool exists = std::find(known.begin(), known.end(), name) != known.end();
        if (word > end && exists)
            fail_usage(name + " comes after --, where nothing is an option",
                       "move it before --; to name a file, write ./" + *word);
        if (word < end && !exists)
            fail_usage("there is no option " + name, hint_for(name, known));
    }
    join_json_file(arguments);
    std::reverse(arguments.begin(), arguments.end()); // CLI11 expects a reversed vector
    try {
        app_.parse(arguments);
    } catch (const CLI::CallForHelp&) {
        print_text(stdout, app_.help());
        throw Answered{0};
    } catch (const CLI::RequiredError& error) {
        fail_usage(error.what(), such_as());
    } catch (const CLI::ExtrasError& error) {
        const std::string word = app_.remaining()[0];
        if (word.starts_with("-"))
            fail_usage("there is no option " + word, other_programs_option(app_, word));
        fail_usage("unexpected argument '" + word + "'", such_as());
    } catch (const CLI::ArgumentMismatch& error) { // "--samples: 1 required N missing"
        const std::string name =
            std::string(error.what()).substr(0, std::string(error.what()).find(':'));
        const CLI::Option* option = app_.get_option_no_throw(name);
        fail_usage(name + " needs a value" +
                       (option == nullptr ? "" : ": " + option->get_type_name()),
                   "see --help");
    } catch (const CLI::ParseError& error) {
        fail_usage(error.what(), "see --help");
    }
}

std::string host_name()
{
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

void refuse_recording(const char* option, const std::string& path,
                      const std::vector<std::string>& others)
{
    namespace fs = std::filesystem;
    const auto real = [](const std::string& any) {
        std::error_code error; // /dev/stdout has no canonical name if it is a pipe
        const fs::path name = fs::weakly_canonical(fs::absolute(any), error);
        return error ? fs::path(any) : name;
    };
    const std::string name = real(path).string();
    const auto is_own = [&](const std::string& other) {
        return !other.empty() && real(other) == name;
    };
    if (name.ends_with(".sigmf-meta") || name.ends_with(".sigmf-data") ||
        name.ends_with(".journal") || std::any_of(others.begin(), others.end(), is_own))
        fail_usage(std::string(option) + "=" + path +
                       " is already used by this command, or belongs to a recording",
                   "use a different name");
}

void require_folder(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (std::error_code error; !folder.empty() && !std::filesystem::is_directory(folder, error))
        throw Error(Fault::storage, ENOENT, "write", path, {},
                    "there is no folder " + folder.string());
}

void print_json(const std::string& object, const std::string& where)
{
    if (where == "true") {
        print_json_line(stdout, object); // main() reports a failed write
        return;
    }
    refuse_recording("--json", where, {});
    std::FILE* file = std::fopen(where.c_str(), "w");
    const bool written = file != nullptr && std::fputs((object + "\n").c_str(), file) >= 0;
    const int error = errno;
    if (file == nullptr || std::fclose(file) != 0 || !written)
        throw Error(Fault::storage, written ? errno : error, "write", where);
}

void on_end_signals(void (*handler)(int)) noexcept
{
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            continue;
        action = {};
        action.sa_handler = handler;
        ::sigaction(number, &action, nullptr);
    }
}

int print_error(const std::string& command, const Error& error)
{
    print_line(stderr, "iio-stream: %s: %s", command.c_str(), error.what());
    return exit_status(error);
}

} // namespace iio_stream::cli
