// SPDX-License-Identifier: MIT
#include "conformance/buffer_settings.hpp"

#include "sys/files.hpp"

namespace iio_stream::conformance {

BufferSettingsGuard::BufferSettingsGuard(Run& run, const Subject& subject) : settings_(run)
{
    // The first buffer has both buffer/ and buffer0/, and scan_elements/ contains the *_en files of
    // buffer0/.
    std::string folder = subject.folder() + "/buffer" + std::to_string(subject.buffer.index);
    std::string elements = folder;
    if (!sys::path_exists(folder)) {
        folder = subject.folder() + "/buffer";
        elements = subject.folder() + "/scan_elements";
    }
    for (const std::string& name : sys::list_directory(elements))
        if (name.ends_with("_en"))
            settings_.keep(elements + "/" + name);
    settings_.keep(folder + "/watermark");
    settings_.keep(folder + "/length"); // restored first: a watermark must fit into it
}

} // namespace iio_stream::conformance
