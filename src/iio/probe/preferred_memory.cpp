// SPDX-License-Identifier: MIT
#include "iio/probe/preferred_memory.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <nlohmann/json.hpp>

namespace iio_stream::iio {

namespace {

using Json = nlohmann::ordered_json;

std::string file_name()
{
    return sys::state_dir() + "/probe.json";
}

Json read_file()
{
    try {
        const Json json = Json::parse(sys::read_text(file_name()).value_or("{}"), nullptr, false);
        return json.is_object() ? json : Json::object();
    } catch (const Error&) {
        return Json::object(); // an unreadable file counts as no probe
    }
}

} // namespace

std::optional<PreferredMemory> load_preferred_memory(const std::string& device)
{
    const Json json = read_file();
    const auto at = json.find(device);
    try {
        if (at == json.end() || at->value("kernel", "") != sys::kernel_release())
            return std::nullopt;
        return PreferredMemory{Memory::parse("memory", at->value("memory", "")),
                               at->value("reason", "")};
    } catch (const Error&) {
        return std::nullopt; // the heap no longer exists
    } catch (const Json::exception&) {
        return std::nullopt; // the file was not written by this program
    }
}

std::string store_preferred_memory(const std::string& device, const PreferredMemory& preferred)
{
    Json json = read_file();
    json[device] = {{"memory", preferred.memory.name()},
                    {"reason", preferred.reason},
                    {"kernel", sys::kernel_release()}};
    sys::make_directories(sys::state_dir());
    sys::replace_file(file_name(), json.dump(2) + "\n");
    return file_name();
}

} // namespace iio_stream::iio
