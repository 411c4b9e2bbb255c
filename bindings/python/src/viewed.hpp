// SPDX-License-Identifier: MIT
#pragma once

#include "format.hpp"
#include "module.hpp"
#include <iio_stream/block.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::python {

inline std::int64_t utc_offset_now()
{
    using std::chrono::nanoseconds;
    const auto ns = [](auto since) {
        return std::chrono::duration_cast<nanoseconds>(since).count();
    };
    const std::int64_t before = ns(std::chrono::steady_clock::now().time_since_epoch());
    const std::int64_t utc = ns(std::chrono::system_clock::now().time_since_epoch());
    const std::int64_t after = ns(std::chrono::steady_clock::now().time_since_epoch());
    return utc - (before + (after - before) / 2);
}

/// A full or empty block that Python holds: its lease, and a count of its views. A guard (CpuRead,
/// CpuWrite) brackets the CPU's access from the first view until the last one is destroyed. The
/// lease cannot be given up while a view exists. Thread: with the GIL.
template <typename Lease, typename Guard, bool kReadOnly>
class Viewed {
public:
    Viewed(Lease lease, LayoutPtr layout, std::size_t bytes)
        : lease_(std::move(lease)), layout_(std::move(layout)), bytes_(bytes)
    {
        const auto item = static_cast<py::ssize_t>(layout_->format.sample_bytes);
        const py::ssize_t columns = std::max<py::ssize_t>(layout_->columns, 1);
        shape_[0] = static_cast<py::ssize_t>(bytes_) / item;
        shape_[1] = columns;
        strides_[0] = item;
        strides_[1] = item / columns;
    }
    Viewed(const Viewed&) = delete;
    ~Viewed()
    {
        // The buffer belongs to the parent, so a child must not destroy its copy of the lease.
        if (home_.left() && lease_)
            (void)new Lease(std::move(*lease_));
    }

    const Lease& lease() const
    {
        if (!lease_)
            throw py::value_error("the block was released");
        return *lease_;
    }
    Lease& lease() { return const_cast<Lease&>(std::as_const(*this).lease()); }
    bool released() const noexcept { return !lease_; }
    const Layout& layout() const noexcept { return *layout_; }
    std::size_t bytes() const noexcept { return bytes_; }
    py::ssize_t samples() const noexcept { return shape_[0]; }

    /// Gives up the lease and returns it. Throws BufferError while views exist.
    Lease surrender()
    {
        Lease& mine = lease();
        if (views_ != 0)
            throw py::buffer_error(std::to_string(views_) + " views of the block are alive");
        Lease given = std::move(mine);
        lease_.reset();
        return given;
    }
    /// Returns the offset, in ns, from the monotonic clock to UTC, as measured by the first call.
    std::int64_t utc_offset()
    {
        if (!utc_offset_)
            utc_offset_ = utc_offset_now();
        return *utc_offset_;
    }
    void release()
    {
        if (lease_)
            (void)surrender();
    }

    /// open() implements bf_getbuffer, and close() implements bf_releasebuffer.
    void open(PyObject* self, Py_buffer* view, int flags)
    {
        const bool plain = layout_->columns == 0;
        if (kReadOnly && (flags & PyBUF_WRITABLE) != 0)
            throw py::buffer_error("a received block is read-only: copy() gives a writable array");
        if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && shape_[1] > 1)
            throw py::buffer_error("a block is stored sample by sample (C order)");
        look();
        view->obj = py::handle(self).inc_ref().ptr();
        view->buf = data_;
        view->len = static_cast<py::ssize_t>(bytes_);
        view->readonly = kReadOnly ? 1 : 0;
        view->itemsize = plain ? strides_[0] : strides_[1];
        const bool shaped = (flags & PyBUF_ND) != 0;
        view->ndim = shaped && !plain ? 2 : 1;
        view->shape = shaped ? shape_ : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? strides_ : nullptr;
        view->format =
            (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(layout_->code.c_str()) : nullptr;
        view->suboffsets = nullptr;
        view->internal = nullptr;
    }
    void close() noexcept
    {
        if (--views_ == 0)
            guard_.reset();
    }
    /// Adds a permanent view: the address is in use, and nothing will signal when that ends.
    void pin()
    {
        if (!std::exchange(pinned_, true))
            look();
    }

    /// Returns a view as an array. A memoryview of `self` owns its memory, so the view is counted.
    py::array array(const py::object& self)
    {
        const auto memory = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(self.ptr()));
        if (!memory)
            throw py::error_already_set();
        const std::size_t dimensions = layout_->columns == 0 ? 1 : 2;
        py::array made(layout_->dtype, std::vector<py::ssize_t>(shape_, shape_ + dimensions),
                       std::vector<py::ssize_t>(strides_, strides_ + dimensions), data_, memory);
        if (kReadOnly)
            py::detail::array_proxy(made.ptr())->flags &=
                ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
        return made;
    }

private:
    void look()
    {
        if (views_ == 0) {
            guard_.emplace(lease());
            data_ = const_cast<std::byte*>(guard_->bytes().data());
        }
        ++views_;
    }

    Home home_;
    std::optional<Lease> lease_;
    std::optional<Guard> guard_;
    LayoutPtr layout_;
    std::size_t bytes_, views_ = 0;
    bool pinned_ = false;
    std::optional<std::int64_t> utc_offset_;
    std::byte* data_ = nullptr;
    py::ssize_t shape_[2], strides_[2];
};

/// Makes the instances of a class support the buffer protocol.
template <typename Held>
py::custom_type_setup with_buffer()
{
    return py::custom_type_setup([](PyHeapTypeObject* type) {
        type->as_buffer.bf_getbuffer = [](PyObject* self, Py_buffer* view, int flags) {
            view->obj = nullptr;
            try {
                py::handle(self).cast<Held&>().open(self, view, flags);
                return 0;
            } catch (py::builtin_exception& error) {
                error.set_error();
            } catch (const std::exception& error) {
                PyErr_SetString(PyExc_BufferError, error.what());
            }
            return -1;
        };
        type->as_buffer.bf_releasebuffer = [](PyObject* self, Py_buffer*) {
            py::handle(self).cast<Held&>().close();
        };
        type->ht_type.tp_as_buffer = &type->as_buffer;
    });
}

} // namespace iio_stream::python
