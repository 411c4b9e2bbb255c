// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// A gadget's folder in ConfigFS, as far as our function in it is concerned.
class GadgetDir {
public:
    explicit GadgetDir(std::string name);
    /// The gadget that has our function of that name.
    static std::optional<GadgetDir> with_function(const std::string& function);
    static std::vector<GadgetDir> all();

    const std::string& name() const noexcept { return name_; }
    const std::string& path() const noexcept { return path_; }
    bool exists() const;
    /// The name under which our function's FunctionFS is mounted; nullopt if there is none.
    std::optional<std::string> function() const;
    std::string function_path(const std::string& function) const;
    std::string first_config() const; ///< its path; throws if there is none

    std::string udc() const; ///< that it is bound to; empty = none
    void bind(const std::string& udc) const;
    void unbind() const; ///< does nothing if it is not bound

private:
    std::string name_, path_;
};

inline constexpr const char* kRunDir = "/run/iio-stream";
inline constexpr const char* kFunctionPrefix = "iio-stream"; ///< our FunctionFS' names begin so

/// What `gadget up` keeps for later, beside the mount: controller and whether it was bound before.
struct GadgetNote {
    std::string udc;
    bool added = false;     ///< to a gadget that was there
    bool was_bound = false; ///< that one, to the controller
    std::string mount;

    static std::optional<GadgetNote> load(const std::string& gadget);
    void save(const std::string& gadget) const;
    static void remove(const std::string& gadget) noexcept;
};

/// The controllers of this machine; the gadget or driver that holds one, empty = it is free.
std::vector<std::string> controllers();
std::string holder_of_controller(const std::string& udc);

/// Binds the gadget the FunctionFS at `mount` belongs to. Throws if the controller is in use. If it
/// is not a ConfigFS gadget, another program binds it.
void bind_function(const std::string& mount);

} // namespace iio_stream::usb
