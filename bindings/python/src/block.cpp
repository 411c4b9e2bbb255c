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

py::tuple gaps_of(const FullBlock& block)
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

std::string text_of(const Time& time)
{
    const std::string uncertainty =
        time.uncertainty_ns ? std::to_string(*time.uncertainty_ns) : "None";
    return std::string("Time(clock='") + name_of(time.clock) + "', ns=" + std::to_string(time.ns) +
           ", uncertainty_ns=" + uncertainty + ")";
}

std::string text_of(const FullBlock& block)
{
    if (block.released())
        return "<iio_stream.Block, released>";
    const Filled& lease = block.lease();
    return "<iio_stream.Block " + std::to_string(lease.sequence()) + ": " +
           std::to_string(block.samples()) + " samples of " + block.layout().format.name() +
           " from " + std::to_string(lease.sample_index()) + ", " +
           std::to_string(lease.gaps().size()) + " gaps>";
}

/// The view of one channel, by its name or number.
py::object channel(const py::object& self, const py::object& which)
{
    auto& block = self.cast<FullBlock&>();
    const std::vector<Channel>& channels = block.layout().format.channels;
    std::size_t at = channels.size();
    if (py::isinstance<py::str>(which)) {
        const auto name = which.cast<std::string>();
        for (at = 0; at < channels.size() && channels[at].id != name; ++at)
            ;
    } else {
        const auto number = which.cast<py::ssize_t>();
        at = static_cast<std::size_t>(
            number < 0 ? number + static_cast<py::ssize_t>(channels.size()) : number);
    }
    if (at >= channels.size())
        throw py::index_error("there is no channel " + py::repr(which).cast<std::string>());
    const py::array whole = block.array(self);
    if (block.layout().columns == 0)
        return whole[py::str(channels[at].id)];
    return whole[py::make_tuple(py::ellipsis(), at)];
}

void bind_values(py::module_& module)
{
    py::class_<Time>(module, "Time", "When the last sample of a block was complete.")
        .def_property_readonly(
            "clock", [](const Time& t) { return name_of(t.clock); }, "'monotonic' or 'realtime'")
        .def_readonly("ns", &Time::ns, "nanoseconds of that clock")
        .def_readonly("uncertainty_ns", &Time::uncertainty_ns, "None where it is not known")
        .def("__repr__", [](const Time& t) { return text_of(t); });
    py::class_<Gap>(module, "Gap",
                    "Samples are, or may be, missing: between samples offset-1 and offset of those "
                    "that were delivered, for an offset in [offset_min, offset_max].")
        .def_readonly("offset_min", &Gap::offset_min)
        .def_readonly("offset_max", &Gap::offset_max)
        .def_readonly("lost_min", &Gap::lost_min)
        .def_property_readonly(
            "lost_max", [](const Gap& g) { return known(g.lost_max); },
            "None where there is no bound")
        .def_property_readonly(
            "evidence", [](const Gap& g) { return iio_stream::name_of(g.evidence); },
            "'counter', 'overflow-bit', 'dma-error' or 'starvation'")
        .def_property_readonly("certain", &Gap::certain, "at least one sample is lost")
        .def_property_readonly("exact", &Gap::exact, "place and number are known")
        .def("__repr__", [](const Gap& g) { return text_of(g); });
}

} // namespace

void bind_block(py::module_& module)
{
    bind_values(module);
    py::class_<FullBlock> block(
        module, "Block", with_buffer<FullBlock>(),
        "A full block: a lease of the DMA's own memory, read-only. A view of it (array, memoryview, "
        "channel) keeps its memory alive and unchanged, also when stream and pool are gone; when the "
        "last one dies the memory goes back to be filled again.");
    block
        .def_property_readonly(
            "array", [](const py::object& self) { return self.cast<FullBlock&>().array(self); },
            "Read-only view, no copy: shape (samples, channels), dtype and byte order of the scan "
            "type, values as they lie in memory. Where channels differ: shape (samples,), "
            "structured.")
        .def(
            "channel", &channel, py::arg("which"),
            "Read-only strided view of one channel, by name or number: shape (samples,), no copy.\n"
            "Raises IndexError where there is none such.")
        .def(
            "copy",
            [](const py::object& self) {
                return self.cast<FullBlock&>().array(self).attr("copy")();
            },
            "A writable array of its own, which keeps no block.")
        .def("release", &FullBlock::release,
             "Gives the memory back now. Raises BufferError while views of it are alive.")
        .def_property_readonly("released", &FullBlock::released)
        .def_property_readonly(
            "sequence", [](const FullBlock& b) { return b.lease().sequence(); },
            "blocks since the stream's start, failed ones included")
        .def_property_readonly(
            "sample_index", [](const FullBlock& b) { return b.lease().sample_index(); },
            "samples before this block since the start, lost ones included")
        .def_property_readonly(
            "index_exact", [](const FullBlock& b) { return b.lease().index_exact(); },
            "False where sample_index is the least that it can be")
        .def_property_readonly(
            "position", [](const FullBlock& b) { return b.lease().position(); },
            "samples delivered before this block")
        .def_property_readonly("time", [](const FullBlock& b) { return b.lease().time(); })
        .def_property_readonly("gaps", &gaps_of, "losses before or inside this block")
        .def_property_readonly(
            "state",
            [](const FullBlock& b) {
                return b.lease().state() == BlockState::complete ? "complete" : "unverified";
            },
            "'complete', or 'unverified' where the kernel kept no status of it")
        .def_property_readonly(
            "index", [](const FullBlock& b) { return b.lease().index(); },
            "number of the buffer in its pool")
        .def_property_readonly(
            "dmabuf",
            [](const FullBlock& b) {
                const int fd = b.lease().dmabuf();
                return fd < 0 ? std::nullopt : std::optional(fd);
            },
            "the buffer's DMABUF, borrowed; None where it is plain pages")
        .def_property_readonly("nbytes", &FullBlock::bytes)
        .def("__len__", &FullBlock::samples, "samples")
        .def("__enter__", [](py::object self) { return self; })
        .def("__exit__",
             [](FullBlock& self, const py::object& type, const py::args&) {
                 if (type.is_none())
                     self.release();
             })
        .def("__repr__", [](const FullBlock& b) { return text_of(b); });
    bind_arrays(block);
}

} // namespace iio_stream::python
