# SPDX-License-Identifier: MIT
"""Other libraries access the memory of a block through DLPack and NumPy's interface, without a copy."""
import ctypes

import numpy as np
import pytest
from conftest import ramp

import iio_stream as ios

CAPSULE = ctypes.pythonapi.PyCapsule_GetPointer
CAPSULE.restype, CAPSULE.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


def versioned(capsule):
    return Versioned.from_address(CAPSULE(capsule, b"dltensor_versioned"))


def source(**options):
    return ios.source("sim:", **{"rate": 0, "block_size": 4096, "blocks": 4, **options})


def test_dlpack_exports_the_memory_of_the_block_read_only():
    with source() as rx:
        block = next(rx)
        where = block.array.__array_interface__["data"][0]
        capsule = block.__dlpack__(max_version=(1, 0))
        managed = versioned(capsule)
        assert list(managed.version)[0] == 1 and managed.flags == 1  # read-only
        tensor = managed.tensor
        assert tensor.data == where and list(tensor.device) == [1, 0] and tensor.offset == 0
        assert (tensor.code, tensor.bits, tensor.lanes, tensor.ndim) == (0, 16, 1, 2)
        assert (tensor.shape[0], tensor.shape[1], tensor.strides[0], tensor.strides[1]) == (1024, 2, 2, 1)
        with pytest.raises(BufferError):
            block.release()
        del block
        assert rx.held == 1
        del capsule
        assert rx.held == 0


def test_a_consumers_deleter_returns_the_block():
    with source() as rx:
        capsule = next(rx).__dlpack__(max_version=(1, 1))
        managed = versioned(capsule)
        ctypes.pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        ctypes.pythonapi.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
        del capsule
        assert rx.held == 1
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
        assert rx.held == 0


def test_an_older_consumer_must_request_a_copy():
    with source() as rx:
        block = next(rx)
        for version in (None, (0, 8)):
            with pytest.raises(BufferError, match="read-only"):
                block.__dlpack__(max_version=version)
        assert block.__dlpack_device__() == (1, 0)
        with pytest.raises(BufferError):
            block.__dlpack__(max_version=(1, 0), dl_device=(2, 0))
        copy = block.__dlpack__(max_version=(1, 0), copy=True)
        assert versioned(copy).flags == 2  # the flag of a copy, which is writable
        assert versioned(copy).tensor.data != block.array.__array_interface__["data"][0]
        legacy = block.__dlpack__(copy=True)
        tensor = Tensor.from_address(CAPSULE(legacy, b"dltensor"))
        assert ctypes.string_at(tensor.data, 4096) == ramp(0, 4096)
        block.release()  # copies do not keep the block
        assert rx.held == 0


def test_numpy_reads_dlpack():
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        class Copied:  # NumPy before 2.1 accepts only this
            def __init__(self, block):
                self.block = block

            def __dlpack__(self, stream=None):
                return self.block.__dlpack__(copy=True)

            def __dlpack_device__(self):
                return self.block.__dlpack_device__()
    else:
        def Copied(block):
            return block
    with source() as rx:
        array = np.from_dlpack(Copied(next(rx)))
        assert array.tobytes() == ramp(0, 4096)


@pytest.mark.parametrize("format", ["ci16_be", "le:s16/16>>0,le:s32/32>>0"])
def test_formats_that_dlpack_cannot_express_are_refused(format):
    with source(format=format) as rx:
        with pytest.raises(BufferError, match="DLPack (supports only|does not support)"):
            next(rx).__dlpack__(max_version=(1, 0))
        assert rx.held == 0


@pytest.mark.parametrize("format,code", [("ri16_le", 0), ("ru16_le", 1), ("rf32_le", 2)])
def test_dlpack_has_the_type_of_the_numbers(format, code):
    with source(format=format, pattern="tone" if code == 2 else "ramp") as rx:
        capsule = next(rx).__dlpack__(max_version=(1, 0))
        assert versioned(capsule).tensor.code == code


def test_the_array_interface_keeps_the_block():
    with source() as rx:
        block = next(rx)
        words = block.__array_interface__
        assert words["version"] == 3 and words["typestr"] == "<i2" and words["shape"] == (1024, 2)
        assert words["data"] == (block.array.__array_interface__["data"][0], True)
        with pytest.raises(BufferError):
            block.release()
        del block
        assert rx.held == 0
