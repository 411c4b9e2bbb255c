// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// A gadget's folder in ConfigFS, with the operations that our function needs.
class GadgetDir {
public:
    explicit GadgetDir(std::string name);
    /// Finds the gadget that has our function of that name.
    static std::optional<GadgetDir> with_function(const std::string& function);
    static std::vector<GadgetDir> all();

    const std::string& name() const noexcept { return name_; }
    const std::string& path() const noexcept { return path_; }
    bool exists() const;
    /// The name under which our function's FunctionFS is mounted; nullopt if there is none.
    std::optional<std::string> function() const;
    std::string function_path(const std::string& function) const;
    std::string first_config() const; ///< its path; throws if there is none

    std::string udc() const; ///< controller that it is bound to; empty: none
    void bind(const std::string& udc) const;
    void unbind() const; ///< does nothing if it is not bound

private:
    std::string name_, path_;
};

inline constexpr const char* kRunDir = "/run/iio-stream";
/// Prefix of the names of our FunctionFS instances.
inline constexpr const char* kFunctionPrefix = "iio-stream";

/// The state that `gadget up` saves for later: the controller, whether the gadget was bound to it
/// before, and the mount.
struct GadgetNote {
    std::string udc;
    bool added = false;     ///< the function was added to an existing gadget
    bool was_bound = false; ///< that gadget was bound to the controller
    std::string mount;

    static std::optional<GadgetNote> load(const std::string& gadget);
    void save(const std::string& gadget) const;
    static void remove(const std::string& gadget) noexcept;
};

/// The controllers of this machine, and the gadget or driver that holds one of them (empty: it is
/// free).
std::vector<std::string> controllers();
std::string holder_of_controller(const std::string& udc);

/// Binds the gadget to which the FunctionFS at `mount` belongs. Throws Error if no FunctionFS is
/// mounted there or if the controller is in use. Does nothing if the gadget is already bound, or if
/// it was not made by `gadget up`, because another program binds it in that case.
void bind_function(const std::string& mount);

} // namespace iio_stream::usb
