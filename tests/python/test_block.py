# SPDX-License-Identifier: MIT
"""Views of a block do not copy the samples, and the samples stay valid while a view exists."""
import gc
import pathlib
import pprint
import threading
import weakref

import numpy as np
import pytest
from conftest import ramp

import iio_stream as ios


def source(**options):
    return ios.source("sim:", **{"rate": 0, "block_size": 4096, "blocks": 4, **options})


def address(array):
    return array.__array_interface__["data"][0]


def mapping_of(where):
    """Returns the start and end of the mapping of this process that contains an address."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= where < end:
            return begin, end
    return None


def test_a_view_is_in_the_memory_of_the_pool():
    size, count = 64 << 10, 8
    with ios.source("sim:", rate=0, block_size=size, blocks=count, samples=2_000_000) as rx:
        places = {}
        for block in rx:
            places.setdefault(block.index, set()).add(address(block.array))
        # Each buffer always has the same address, and all are adjacent in one mapping.
        assert len(places) == count and all(len(found) == 1 for found in places.values())
        first = min(found for [found] in places.values())
        assert {index: found - first for index, [found] in places.items()} == \
            {index: index * size for index in range(count)}
        begin, end = mapping_of(first)
        assert begin <= first and first + size * count <= end


def test_a_view_is_read_only():
    with source() as rx:
        view = next(rx).array
        with pytest.raises(ValueError, match="read-only"):
            view[0, 0] = 1
        with pytest.raises(ValueError):
            view.setflags(write=True)
        with pytest.raises(ValueError):
            view[::2].flags.writeable = True
        with pytest.raises((ValueError, BufferError)):
            np.frombuffer(next(rx), dtype="i2").flags.writeable = True


def test_a_view_keeps_its_data_after_the_stream_is_closed():
    rx = source()
    views = [next(rx).array for _ in range(2)]
    for _ in range(200):  # this fills the other two blocks repeatedly
        next(rx)
    rx.close()
    del rx
    gc.collect()
    for number, view in enumerate(views):
        assert view.tobytes() == ramp(number * 4096, 4096)


def test_views_of_views_keep_the_block_too():
    with source() as rx:
        block = next(rx)
        part = block.array[10:20, 1].view("u2").reshape(2, 5).T
        with pytest.raises(BufferError, match="1 views"):
            block.release()
        del block
        assert rx.held == 1
        for _ in range(20):
            next(rx)
        assert part.tobytes("F") == np.frombuffer(ramp(0, 4096), "u2").reshape(-1, 2)[10:20, 1].tobytes()
        del part
        assert rx.held == 0


def test_the_last_view_returns_the_block():
    with source() as rx:
        block = next(rx)
        views = [block.array, block.channel(0), memoryview(block), np.asarray(block)]
        del block
        while views:
            assert rx.held == 1
            views.pop()
        assert rx.held == 0


def test_release_returns_the_block_immediately():
    with source() as rx:
        block = next(rx)
        view = block.array
        with pytest.raises(BufferError):
            block.release()
        assert not block.released and view[0, 0] == 0
        del view
        block.release()
        block.release()
        assert block.released and rx.held == 0 and "released" in repr(block)
        for use in (lambda: block.array, lambda: block.sequence, block.copy, block.iq, lambda: block.gaps,
                    lambda: memoryview(block), lambda: block.__array_interface__):
            with pytest.raises(ValueError, match="the block was released"):
                use()


def test_a_block_is_a_context_manager():
    with source() as rx:
        with next(rx) as block:
            assert rx.held == 1 and len(block) == 1024
        assert rx.held == 0
        with pytest.raises(BufferError), next(rx) as block:
            view = block.array
        with pytest.raises(KeyError), next(rx) as block:  # the view does not hide the error
            view = block.array
            raise KeyError
        del view


def test_a_copy_does_not_keep_the_block():
    with source() as rx:
        copy = next(rx).copy()
        assert rx.held == 0 and copy.flags.writeable and copy.flags.owndata
        assert copy.tobytes() == ramp(0, 4096)


def test_the_buffer_protocol_has_shape_strides_and_format():
    with source() as rx:
        block = next(rx)
        memory = memoryview(block)
        assert memory.readonly and memory.shape == (1024, 2) and memory.strides == (4, 2)
        assert memory.format == "h" and memory.nbytes == 4096 and memory.c_contiguous
        assert memory.tolist() == block.array.tolist()
        assert bytes(block) == ramp(0, 4096)
        again = np.asarray(block)
        assert again.dtype == np.int16 and address(again) == address(block.array)


def test_files_accept_a_block_directly(tmp_path):
    with source() as rx, open(tmp_path / "a", "wb") as file:
        file.write(next(rx))
        file.close()
        assert rx.held == 0
    assert (tmp_path / "a").read_bytes() == ramp(0, 4096)


def test_channels_are_strided_views():
    with source() as rx:
        block = next(rx)
        whole = block.array
        for which, column in (("voltage0_i", 0), ("voltage0_q", 1), (0, 0), (1, 1), (-1, 1)):
            view = block.channel(which)
            assert view.shape == (1024,) and view.strides == (4,)
            assert address(view) == address(whole) + 2 * column and not view.flags.writeable
            assert (view == whole[:, column]).all()
        for which in ("voltage1", 2, -3):
            with pytest.raises(IndexError, match="there is no channel"):
                block.channel(which)


def test_several_threads_can_release_a_thousand_views():
    with source(blocks=8) as rx:
        kept = [next(rx) for _ in range(4)]
        views = [kept[n % 4].array[n % 7:] for n in range(1000)]
        expected = [block.array.tobytes() for block in kept]
        del kept
        failures = []

        def drop(mine):
            while mine:
                number, view = mine.pop()
                if view.tobytes() != expected[number % 4][number % 7 * 4:]:
                    failures.append(number)

        hands = [list(enumerate(views))[n::8] for n in range(8)]
        threads = [threading.Thread(target=drop, args=(hand,)) for hand in hands]
        del views, hands
        for thread in threads:
            thread.start()
        for _ in range(100):
            next(rx)
        for thread in threads:
            thread.join(60)
        del thread, threads
        gc.collect()
        assert failures == [] and rx.held == 0


def test_a_reference_cycle_is_collected():
    class Node:
        pass

    with source() as rx:
        node = Node()
        node.me, node.view = node, next(rx).array
        gone = weakref.ref(node)
        del node
        gc.collect()
        assert gone() is None and rx.held == 0


def test_a_frozen_heap_keeps_its_views():
    with source() as rx:
        view = next(rx).array
        gc.freeze()
        try:
            gc.collect()
            for _ in range(20):
                next(rx)
            assert view.tobytes() == ramp(0, 4096)
            del view
            assert rx.held == 0
        finally:
            gc.unfreeze()


def test_blocks_and_gaps_can_be_printed():
    with source(drop_at=100, drop=5) as rx:
        block = next(rx)
        assert "1 gaps" in pprint.pformat({"block": block})
        assert pprint.pformat(list(block.gaps)).startswith("[Gap(offset_min=100")
        assert "clock='monotonic'" in pprint.pformat([block.time])
