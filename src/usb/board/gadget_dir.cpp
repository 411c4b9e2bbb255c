// SPDX-License-Identifier: MIT
#include "usb/board/gadget_dir.hpp"

#include "iio_stream/error.hpp"
#include "sys/device/mounts.hpp"
#include "sys/files.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>

namespace iio_stream::usb {

namespace {

constexpr const char* kGadgets = "/sys/kernel/config/usb_gadget";
constexpr const char* kControllers = "/sys/class/udc";

std::string note_path(const std::string& gadget)
{
    return std::string(kRunDir) + "/gadget-" + gadget;
}

} // namespace

GadgetDir::GadgetDir(std::string name)
    : name_(std::move(name)), path_(std::string(kGadgets) + "/" + name_)
{}

std::vector<GadgetDir> GadgetDir::all()
{
    std::vector<GadgetDir> gadgets;
    for (const std::string& name : sys::list_directory(kGadgets))
        gadgets.emplace_back(name);
    return gadgets;
}

std::optional<GadgetDir> GadgetDir::with_function(const std::string& function)
{
    for (const GadgetDir& gadget : all())
        if (sys::path_exists(gadget.function_path(function)))
            return gadget;
    return std::nullopt;
}

bool GadgetDir::exists() const
{
    return sys::path_exists(path_);
}

std::optional<std::string> GadgetDir::function() const
{
    const std::string prefix = std::string("ffs.") + kFunctionPrefix;
    for (const std::string& name : sys::list_directory(path_ + "/functions"))
        if (name.starts_with(prefix))
            return name.substr(4);
    return std::nullopt;
}

std::string GadgetDir::function_path(const std::string& function) const
{
    return path_ + "/functions/ffs." + function;
}

std::string GadgetDir::first_config() const
{
    const auto configs = sys::list_directory(path_ + "/configs");
    if (configs.empty())
        throw Error(Fault::device, ENOENT, "add a function to", "gadget " + name_,
                    "it has no configuration");
    return path_ + "/configs/" + configs.front();
}

std::string GadgetDir::udc() const
{
    return sys::read_text(path_ + "/UDC").value_or("");
}

void GadgetDir::bind(const std::string& udc) const
{
    sys::write_text(path_ + "/UDC", udc);
}

void GadgetDir::unbind() const
{
    if (udc().empty())
        return;
    try {
        sys::write_text(path_ + "/UDC", "\n");
    } catch (const Error& error) {
        if (error.code().value() != ENODEV) // it has been unbound meanwhile
            throw;
    }
}

std::optional<GadgetNote> GadgetNote::load(const std::string& gadget)
{
    const auto text = sys::read_text(note_path(gadget));
    if (!text)
        return std::nullopt;
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object())
        return std::nullopt;
    return GadgetNote{json.value("udc", ""), json.value("added", false),
                      json.value("was_bound", false), json.value("mount", "")};
}

void GadgetNote::save(const std::string& gadget) const
{
    sys::make_directories(kRunDir);
    const nlohmann::json json{
        {"udc", udc}, {"added", added}, {"was_bound", was_bound}, {"mount", mount}};
    sys::replace_file(note_path(gadget), json.dump() + "\n");
}

void GadgetNote::remove(const std::string& gadget) noexcept
{
    sys::try_remove_file(note_path(gadget));
}

std::vector<std::string> controllers()
{
    return sys::list_directory(kControllers);
}

std::string holder_of_controller(const std::string& udc)
{
    for (const GadgetDir& gadget : GadgetDir::all())
        if (gadget.udc() == udc)
            return gadget.name();
    return sys::read_text(std::string(kControllers) + "/" + udc + "/function").value_or("");
}

void bind_function(const std::string& mount)
{
    const auto function = sys::functionfs_at(mount);
    if (!function)
        throw Error(Fault::device, ENODEV, "open", mount, "no FunctionFS is mounted there",
                    "iio-stream gadget up mounts one at /run/iio-stream/ffs");
    const auto gadget = GadgetDir::with_function(*function);
    if (!gadget || !gadget->udc().empty())
        return;
    const auto note = GadgetNote::load(gadget->name());
    if (!note)
        return;
    const std::string holder = holder_of_controller(note->udc);
    if (!holder.empty())
        throw Error(Fault::device, EBUSY, "bind", note->udc, "it is held by gadget " + holder,
                    "iio-stream gadget status shows all controllers");
    gadget->bind(note->udc);
}

} // namespace iio_stream::usb
