// SPDX-License-Identifier: MIT
#include "format.hpp"
#include "module.hpp"
#include "reader.hpp"
#include <iio_stream/device.hpp>
#include <iio_stream/doctor.hpp>
#include <iio_stream/recording.hpp>
#include <iio_stream/stats.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <pybind11/stl.h>
#include <utility>

namespace iio_stream::python {

namespace {

using namespace py::literals;

py::dict dict_of(const BufferInfo& buffer)
{
    Format format;
    format.channels = buffer.channels;
    return py::dict("index"_a = buffer.index, "output"_a = buffer.output,
                    "channels"_a = format_dict(format)["channels"],
                    "alignment"_a = buffer.alignment, "dmabuf"_a = buffer.dmabuf,
                    "dmabuf_reason"_a = or_none(buffer.dmabuf_reason),
                    "path"_a = or_none(buffer.path),
                    "remarks"_a = py::tuple(py::cast(buffer.remarks)), "tuning"_a = buffer.tuning);
}

py::dict dict_of(const DeviceInfo& device)
{
    py::list buffers, attributes;
    for (const BufferInfo& buffer : device.buffers)
        buffers.append(dict_of(buffer));
    for (const AttributeInfo& a : device.attributes)
        attributes.append(
            py::dict("channel"_a = or_none(a.channel), "name"_a = a.name,
                     "value"_a = a.error.empty() ? py::object(py::str(a.value)) : py::none(),
                     "error"_a = or_none(a.error)));
    return py::dict(
        "id"_a = device.id, "name"_a = or_none(device.name), "label"_a = or_none(device.label),
        "sample_rate"_a = device.sample_rate > 0 ? py::cast(device.sample_rate) : py::none(),
        "buffers"_a = buffers, "attributes"_a = attributes,
        "remarks"_a = py::tuple(py::cast(device.remarks)));
}

py::list list_of_devices(const std::string& name, const std::string& uri)
{
    const auto found = without_gil(
        [&] { return name.empty() ? devices(uri) : std::vector<DeviceInfo>{device(name, uri)}; });
    py::list list;
    for (const DeviceInfo& one : found)
        list.append(dict_of(one));
    return list;
}

/// A Device for any number of Python threads. They take turns, because a libiio context supports
/// only one thread at a time. Thread: with the GIL, which is released for calls that may wait.
class SharedDevice {
public:
    SharedDevice(const std::string& name, const std::string& uri)
        : device_(without_gil([&] { return std::make_unique<Device>(name, uri); }))
    {}

    template <typename Call>
    auto operator()(Call call)
    {
        return without_gil([&] {
            const std::lock_guard turn(turn_);
            return call(*device_);
        });
    }

private:
    std::unique_ptr<Device> device_;
    std::mutex turn_;
};

py::dict tuned(SharedDevice& device, const py::dict& wanted)
{
    TuningRequest request;
    for (const auto& [key, place] :
         {std::pair("frequency", &request.frequency), std::pair("gain", &request.gain),
          std::pair("bandwidth", &request.bandwidth), std::pair("rate", &request.rate)})
        if (wanted.contains(key))
            *place = wanted[key].cast<double>();
    for (const auto& [key, place] :
         {std::pair("agc", &request.agc), std::pair("antenna", &request.antenna),
          std::pair("channels", &request.channels)})
        if (wanted.contains(key))
            *place = wanted[key].cast<std::string>();
    if (wanted.contains("buffer"))
        request.buffer = wanted["buffer"].cast<int>();
    return tuning_dict(device([&](Device& d) { return d.tune(request); }));
}

void bind_handle(py::module_& module)
{
    py::class_<SharedDevice>(module, "Device")
        .def(py::init<const std::string&, const std::string&>(), py::arg("name"), py::arg("uri"))
        .def("info",
             [](SharedDevice& d) { return dict_of(d([](Device& one) { return one.info(); })); })
        .def("get",
             [](SharedDevice& d, const std::string& path) {
                 return d([&](Device& one) { return one.get(path); });
             })
        .def("set",
             [](SharedDevice& d, const std::string& path, const std::string& value) {
                 return d([&](Device& one) { return one.set(path, value); });
             })
        .def("tuning",
             [](SharedDevice& d) {
                 return tuning_dict(d([](Device& one) { return one.tuning(); }));
             })
        .def("tune", &tuned, py::arg("wanted"));
}

py::dict tuning_of(const std::string& endpoint, const std::map<std::string, std::string>& changes)
{
    Options options;
    for (const auto& [key, value] : changes)
        options.set(key, value);
    return tuning_dict(without_gil([&] { return tune(endpoint, options); }));
}

py::list checks()
{
    py::list list;
    for (const Check& check : without_gil([] { return doctor(); }))
        list.append(py::dict("name"_a = check.name, "ok"_a = check.state == Check::State::ok,
                             "detail"_a = check.detail, "fix"_a = or_none(check.fix)));
    return list;
}

py::dict probe_of(const std::string& name)
{
    const ProbeResult probed = without_gil([&] { return probe(name); });
    py::list rows;
    for (const ProbeRow& row : probed.rows)
        rows.append(py::dict("memory"_a = row.memory.name(), "error"_a = or_none(row.error),
                             "blocks"_a = row.blocks, "bytes_per_second"_a = row.bytes_per_second,
                             "cpu_seconds_per_gib"_a = row.cpu_seconds_per_gib,
                             "interrupts_per_block"_a = row.interrupts_per_block,
                             "data_arrived"_a = row.data_arrived));
    return py::dict("device"_a = name, "block_bytes"_a = probed.block_size, "memories"_a = rows,
                    "recommended"_a = probed.recommended.name(), "reason"_a = probed.reason,
                    "stored_in"_a = probed.stored_in);
}

py::list zeros_of(const Recording& recording)
{
    py::list ranges;
    for (const Zeros& filled : recording.zeros)
        ranges.append(py::make_tuple(filled.begin, filled.end));
    return ranges;
}

py::dict recording_of(const std::string& path, const std::string& format, bool add_hash,
                      const std::optional<std::string>& pattern)
{
    if (pattern)
        (void)verify_sink({}, *pattern); // report an invalid pattern before anything else
    static constexpr const char* kHashes[] = {"none", "unchecked", "good", "bad", "added"};
    const Recording r = without_gil([&] { return check_recording(path, format, add_hash); });
    return py::dict(
        "metadata"_a = or_none(r.metadata), "data"_a = r.data,
        "format"_a = r.format.channels.empty() ? py::none() : py::object(format_dict(r.format)),
        "bytes"_a = r.bytes, "samples"_a = r.samples, "first_index"_a = r.first_index,
        "first_exact"_a = r.first_exact,
        "gaps"_a = py::dict("certain"_a = r.gaps.certain, "possible"_a = r.gaps.possible,
                            "lost_min"_a = r.gaps.lost_min,
                            "lost_max"_a = r.gaps.lost_max == kUnknown ? py::none()
                                                                       : py::cast(r.gaps.lost_max)),
        "zeros"_a = zeros_of(r), "state"_a = or_none(r.state),
        "hash"_a = kHashes[static_cast<int>(r.hash)], "needs_recover"_a = r.needs_recover,
        "problems"_a = r.problems,
        "sink"_a = pattern ? py::object(py::str(verify_sink(r, *pattern))) : py::none());
}

} // namespace

void bind_device(py::module_& module)
{
    bind_handle(module);
    module.def("devices", &list_of_devices, py::arg("name"), py::arg("uri"));
    module.def("get_attribute", [](const std::string& path, const std::string& uri) {
        return without_gil([&] { return get_attribute(path, uri); });
    });
    module.def("set_attribute",
               [](const std::string& path, const std::string& value, const std::string& uri) {
                   return without_gil([&] { return set_attribute(path, value, uri); });
               });
    module.def("tune", &tuning_of);
    module.def("doctor", &checks);
    module.def("probe", &probe_of);
    module.def("check_recording", &recording_of);
    module.def("recover", [](const std::string& path, const std::string& format) {
        const Recovery done = without_gil([&] { return recover_recording(path, format); });
        return py::dict("needed"_a = done.needed, "bytes_before"_a = done.bytes_before,
                        "bytes"_a = done.bytes, "samples"_a = done.samples,
                        "missing"_a = done.missing == kUnknown ? py::object(py::none())
                                                               : py::object(py::int_(done.missing)),
                        "next_part"_a = done.next_part, "tail"_a = done.tail,
                        "backup"_a = done.backup);
    });
}

} // namespace iio_stream::python
