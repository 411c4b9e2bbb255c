// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

const char* name_of(Clock clock)
{
    return clock == Clock::monotonic ? "monotonic" : "realtime";
}

std::optional<std::uint64_t> known(std::uint64_t value)
{
    return value == kUnknown ? std::nullopt : std::optional(value);
}

py::tuple gaps_of(const PyBlock& block)
{
    py::list gaps;
    for (const Gap& gap : block.lease().gaps())
        gaps.append(gap);
    return py::tuple(gaps);
}

std::string text_of(const Gap& gap)
{
    const auto number = [](std::uint64_t value) {
        return value == kUnknown ? std::string("None") : std::to_string(value);
    };
    return "Gap(offset_min=" + number(gap.offset_min) + ", offset_max=" + number(gap.offset_max) +
           ", lost_min=" + number(gap.lost_min) + ", lost_max=" + number(gap.lost_max) +
           ", evidence='" + name_of(gap.evidence) + "')";
}

/// A time on one of the two clocks, and the same time in UTC.
struct Moment {
    Time time;
    std::int64_t utc_ns = 0;
};

std::optional<Moment> moment_of(PyBlock& block)
{
    const Time& time = block.lease().time();
    if (time.ns == 0)
        return std::nullopt;
    return Moment{time, time.clock == Clock::realtime ? time.ns : time.ns + block.utc_offset()};
}

std::string text_of(const Moment& moment)
{
    const Time& time = moment.time;
    const std::string uncertainty =
        time.uncertainty_ns ? std::to_string(*time.uncertainty_ns) : "None";
    return std::string("Time(clock='") + name_of(time.clock) + "', ns=" + std::to_string(time.ns) +
           ", uncertainty_ns=" + uncertainty + ", utc_ns=" + std::to_string(moment.utc_ns) + ")";
}

/// Makes a Time from its parts, to unpickle it.
Moment make_time(const std::string& clock, std::int64_t ns,
                 std::optional<std::uint64_t> uncertainty, std::int64_t utc_ns)
{
    return {{clock == "realtime" ? Clock::realtime : Clock::monotonic, ns, uncertainty}, utc_ns};
}

Gap make_gap(std::uint64_t offset_min, std::uint64_t offset_max, std::uint64_t lost_min,
             std::optional<std::uint64_t> lost_max, const std::string& evidence)
{
    Gap gap{offset_min, offset_max, lost_min, lost_max.value_or(kUnknown)};
    for (const Evidence one : {Evidence::overflow_bit, Evidence::dma_error, Evidence::starvation})
        if (evidence == iio_stream::name_of(one))
            gap.evidence = one;
    return gap;
}

std::string text_of(const PyBlock& block)
{
    if (block.released())
        return "<iio_stream.Block, released>";
    const Block& lease = block.lease();
    return "<iio_stream.Block " + std::to_string(lease.sequence()) + ": " +
           std::to_string(block.samples()) + " samples of " + block.layout().format.name() +
           " from " + std::to_string(lease.sample_index()) + ", " +
           std::to_string(lease.gaps().size()) + " gaps>";
}

/// Returns the view of one channel, by its name or number.
py::object channel(const py::object& self, const py::object& which)
{
    auto& block = self.cast<PyBlock&>();
    const std::vector<Channel>& channels = block.layout().format.channels;
    std::size_t at = channels.size();
    if (py::isinstance<py::str>(which)) {
        const auto name = which.cast<std::string>();
        for (at = 0; at < channels.size() && channels[at].id != name; ++at)
            ;
    } else {
        const py::ssize_t number = PyNumber_AsSsize_t(which.ptr(), PyExc_IndexError);
        if (number == -1 && PyErr_Occurred() != nullptr)
            throw py::error_already_set();
        at = static_cast<std::size_t>(
            number < 0 ? number + static_cast<py::ssize_t>(channels.size()) : number);
    }
    if (at >= channels.size()) {
        std::string ids;
        for (const Channel& channel : channels)
            ids += (ids.empty() ? "" : ", ") + channel.id;
        throw py::index_error("there is no channel " + py::repr(which).cast<std::string>() +
                              " (known: " + ids + ")");
    }
    const py::array whole = block.array(self);
    if (block.layout().columns == 0)
        return whole[py::str(channels[at].id)];
    return whole[py::make_tuple(py::ellipsis(), at)];
}

void bind_values(py::module_& module)
{
    py::class_<Moment>(module, "Time", "The time at which the last sample of a block was complete.")
        .def_property_readonly(
            "clock", [](const Moment& m) { return name_of(m.time.clock); },
            "'monotonic' or 'realtime'")
        .def_property_readonly(
            "ns", [](const Moment& m) { return m.time.ns; }, "nanoseconds of that clock")
        .def_property_readonly(
            "uncertainty_ns", [](const Moment& m) { return m.time.uncertainty_ns; },
            "uncertainty in nanoseconds; None if unknown")
        .def_readonly("utc_ns", &Moment::utc_ns,
                      "nanoseconds since 1970 in UTC; a monotonic time is converted with the "
                      "offset between the clocks at the first access to the block's time")
        .def("__repr__", [](const Moment& m) { return text_of(m); });
    module.def("_time", &make_time);
    py::class_<Gap>(module, "Gap",
                    "A place where samples are, or may be, missing: between the delivered samples "
                    "offset-1 and offset, for an offset in [offset_min, offset_max].")
        .def_readonly("offset_min", &Gap::offset_min)
        .def_readonly("offset_max", &Gap::offset_max)
        .def_readonly("lost_min", &Gap::lost_min)
        .def_property_readonly(
            "lost_max", [](const Gap& g) { return known(g.lost_max); },
            "None if the upper bound is unknown")
        .def_property_readonly(
            "evidence", [](const Gap& g) { return iio_stream::name_of(g.evidence); },
            "'counter', 'overflow-bit', 'dma-error' or 'starvation'")
        .def_property_readonly("certain", &Gap::certain, "at least one sample is lost")
        .def_property_readonly("exact", &Gap::exact, "the place and the number are known exactly")
        .def("__repr__", [](const Gap& g) { return text_of(g); });
    module.def("_gap", &make_gap);
}

} // namespace

void bind_block(py::module_& module)
{
    bind_values(module);
    py::class_<PyBlock> block(module, "Block", with_buffer<PyBlock>(),
                              "A full block: a read-only lease of the DMA's own memory. A view of "
                              "it (array, memoryview, channel) keeps the memory alive and "
                              "unchanged, even after the stream and the pool are destroyed. When "
                              "the block and its last view are destroyed, the memory goes back to "
                              "the stream to be filled again.");
    block
        .def_property_readonly(
            "array", [](const py::object& self) { return self.cast<PyBlock&>().array(self); },
            "A read-only view, no copy: shape (samples, channels), with the dtype and the byte "
            "order of the scan type and the values as they are in memory. If channels differ: "
            "shape (samples,), with a structured dtype.")
        .def("_channel", &channel, py::arg("which"))
        .def("_release", &PyBlock::release)
        .def_property_readonly("released", &PyBlock::released)
        .def_property_readonly(
            "sequence", [](const PyBlock& b) { return b.lease().sequence(); },
            "the number of blocks before this one since the stream's start, failed ones included")
        .def_property_readonly(
            "sample_index", [](const PyBlock& b) { return b.lease().sample_index(); },
            "the number of samples before this block since the start, lost ones included")
        .def_property_readonly(
            "index_exact", [](const PyBlock& b) { return b.lease().index_exact(); },
            "False: sample_index is a lower bound")
        .def_property_readonly(
            "position", [](const PyBlock& b) { return b.lease().position(); },
            "the number of samples delivered before this block")
        .def_property_readonly(
            "time", &moment_of,
            "the time at which its last sample was complete, or the time stated in a recording; "
            "None if it is unknown")
        .def_property_readonly("gaps", &gaps_of, "losses before or inside this block")
        .def_property_readonly(
            "state",
            [](const PyBlock& b) {
                return b.lease().state() == BlockState::complete ? "complete" : "unverified";
            },
            "'complete', or 'unverified' if the kernel kept no status of the block")
        .def_property_readonly(
            "index", [](const PyBlock& b) { return b.lease().index(); },
            "the number of the buffer in its pool")
        .def_property_readonly(
            "dmabuf",
            [](const PyBlock& b) {
                const int fd = b.lease().dmabuf();
                return fd < 0 ? std::nullopt : std::optional(fd);
            },
            "a file descriptor of the buffer's DMABUF, borrowed from the block; None if the memory "
            "is plain pages")
        .def_property_readonly("nbytes", &PyBlock::bytes)
        .def("__len__", &PyBlock::samples, "the number of samples")
        .def("__repr__", [](const PyBlock& b) { return text_of(b); });
    bind_arrays(module, block);
}

} // namespace iio_stream::python
