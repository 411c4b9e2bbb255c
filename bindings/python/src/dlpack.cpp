// SPDX-License-Identifier: MIT
#include "dlpack.hpp"

#include "module.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace iio_stream::python {

namespace {

// The parts of the binary interface of DLPack 1.0 (dmlc.github.io/dlpack) that are used here.
struct Tensor {
    void* data;
    std::int32_t device_type, device_id;
    std::int32_t ndim;
    std::uint8_t code, bits;
    std::uint16_t lanes;
    std::int64_t *shape, *strides; ///< in elements
    std::uint64_t byte_offset;
};
constexpr std::int32_t kCpu = 1;
constexpr std::uint8_t kInt = 0, kUnsigned = 1, kFloat = 2, kComplex = 5;
constexpr std::uint64_t kFlagReadOnly = 1, kFlagCopied = 2;

struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};
struct ManagedVersioned {
    std::uint32_t major, minor;
    void* context;
    void (*deleter)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};
// The layout is checked for 64-bit pointers; for 32-bit pointers, it depends on the ABI.
static_assert(sizeof(void*) != 8 ||
              (sizeof(Tensor) == 48 && offsetof(ManagedVersioned, tensor) == 32));

/// The content of a capsule: the tensor and the data that it points to.
template <typename M>
struct Exported {
    M managed{};
    py::object array;
    std::vector<std::int64_t> shape, strides;
};

template <typename M>
void drop(M* managed)
{
    const py::gil_scoped_acquire gil; // a consumer may call this from any thread
    const std::unique_ptr<Exported<M>> owned(static_cast<Exported<M>*>(managed->context));
}

std::uint8_t code_of(const py::dtype& dtype)
{
    if (!dtype.attr("isnative").cast<bool>())
        throw py::buffer_error("DLPack supports only native byte order: use copy() and astype()");
    switch (dtype.kind()) {
    case 'i':
        return kInt;
    case 'u':
        return kUnsigned;
    case 'f':
        return kFloat;
    case 'c':
        return kComplex;
    default:
        throw py::buffer_error("DLPack does not support structures: use one channel()");
    }
}

template <typename M>
py::capsule capsule_of(std::unique_ptr<Exported<M>> exported, const char* name)
{
    // A consumer renames the capsule and calls the deleter itself. If no consumer does so, this
    // destructor of the capsule calls the deleter.
    py::capsule capsule(&exported->managed, name, [](PyObject* self) {
        const char* still = PyCapsule_GetName(self);
        if (still == nullptr || std::string_view(still).starts_with("used_"))
            return;
        auto* managed = static_cast<M*>(PyCapsule_GetPointer(self, still));
        managed->deleter(managed);
    });
    (void)exported.release();
    return capsule;
}

template <typename M>
std::unique_ptr<Exported<M>> exported_of(const py::array& array)
{
    auto exported = std::make_unique<Exported<M>>();
    exported->array = array;
    // itemsize() is not used, because with NumPy 2, pybind11 before 2.12 reads it from the wrong
    // place.
    const auto item = array.attr("itemsize").cast<py::ssize_t>();
    for (py::ssize_t i = 0; i < array.ndim(); ++i) {
        exported->shape.push_back(array.shape(i));
        exported->strides.push_back(array.strides(i) / item);
    }
    Tensor& tensor = exported->managed.tensor;
    tensor.data = const_cast<void*>(array.data());
    tensor.device_type = kCpu;
    tensor.ndim = static_cast<std::int32_t>(array.ndim());
    tensor.code = code_of(array.dtype());
    tensor.bits = static_cast<std::uint8_t>(item * 8);
    tensor.lanes = 1;
    tensor.shape = exported->shape.data();
    tensor.strides = exported->strides.data();
    exported->managed.context = exported.get();
    exported->managed.deleter = &drop<M>;
    return exported;
}

} // namespace

py::capsule dlpack_capsule(const py::array& array, bool versioned, bool copied)
{
    if (!versioned)
        return capsule_of(exported_of<Managed>(array), "dltensor");
    auto exported = exported_of<ManagedVersioned>(array);
    exported->managed.major = 1;
    exported->managed.flags = (array.writeable() ? 0 : kFlagReadOnly) | (copied ? kFlagCopied : 0);
    return capsule_of(std::move(exported), "dltensor_versioned");
}

} // namespace iio_stream::python
