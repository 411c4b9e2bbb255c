# SPDX-License-Identifier: MIT
"""Reader: samples and facts of each block, timeouts, and the end of a stream."""
import errno
import os
import selectors
import threading
import time

import pytest
from conftest import ramp
from waiting import until

import iio_stream as ios


def test_blocks_have_every_sample_of_the_ramp():
    with ios.source("sim:", rate=0, samples=1_000_000, block_size="64Ki", blocks=4) as rx:
        position = 0
        for block in rx:
            assert block.sample_index == block.position == position // 4
            assert block.array.tobytes() == ramp(position, block.nbytes)
            position += block.nbytes
    assert position == 4_000_000


def test_channels_selects_the_channels_of_a_reader(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(240)))
    with ios.source(tmp_path / "a.bin", format="ri8", channel_names="a,b,c,d", channels=["b", "d"]) as rx:
        assert [channel.id for channel in rx.format.channels] == ["b", "d"]
        assert b"".join(block.array.tobytes() for block in rx) == bytes(range(1, 240, 2))


def test_a_short_stream_has_few_blocks_which_can_all_be_kept():
    with ios.source("sim:", pattern="ramp", rate=0, samples=1000) as rx:
        kept = list(rx)
        summary = rx.close()
        assert b"".join(block.array.tobytes() for block in kept) == ramp(0, 4000)
        assert (summary.words["block_bytes"], summary.words["block_count"]) == (4096, 4)


def test_a_block_has_sequence_index_state_and_time():
    before = time.monotonic_ns()
    with ios.source("sim:", rate="1M", samples=40_000, block_size=40_000) as rx:
        blocks = []
        for number, block in enumerate(rx):
            assert (block.sequence, block.sample_index, block.index_exact) == (number, number * 10_000, True)
            assert block.state == "complete" and block.gaps == ()
            assert len(block) == 10_000 and block.nbytes == 40_000
            blocks.append(block.time)
    assert len(blocks) == 4
    assert all(t.clock == "monotonic" and before < t.ns < time.monotonic_ns() for t in blocks)
    assert [b.ns - a.ns for a, b in zip(blocks, blocks[1:])] == pytest.approx([10_000_000] * 3, abs=2)


def test_a_loss_is_reported_in_its_block():
    with ios.source("sim:", rate=0, drop_at=25_000, drop=300, samples=40_000, block_size=40_000) as rx:
        found = [(block.sequence, gap) for block in rx for gap in block.gaps]
        stats = rx.stats
    [(sequence, gap)] = found
    assert sequence == 2 and gap.certain and gap.exact
    assert (gap.offset_min, gap.offset_max, gap.lost_min, gap.lost_max) == (25_000, 25_000, 300, 300)
    assert gap.evidence == "counter" and "lost_min=300" in repr(gap)
    assert (stats.gaps.certain, stats.gaps.lost_min, stats.gaps.lost_max) == (1, 300, 300)


def test_the_stream_has_its_format_route_and_counters():
    with ios.source("sim:", rate="2M", samples=1000) as rx:
        assert rx.format.name == "ci16_le" and rx.format.is_complex
        assert rx.format.sample_rate == 2e6 and rx.format.sample_bytes == 4
        assert [channel.id for channel in rx.format.channels] == ["voltage0_i", "voltage0_q"]
        assert rx.route[0].mechanism == "generated" and rx.route[-1].mechanism == "lease"
        assert rx.route.copies == 0 and "generated" in str(rx.route)
        assert sum(len(block) for block in rx) == 1000
        assert rx.ended and not rx.closed
    assert rx.closed
    assert (rx.stats.samples, rx.stats.bytes) == (1000, 4000)
    assert rx.stats.sinks[-1].delivered_samples == 1000
    assert "closed" in repr(rx)


def test_other_sinks_get_the_same_blocks(tmp_path):
    file = tmp_path / "a.ci16"
    with ios.source("sim:", rate=0, samples=100_000, sinks=[file, "verify:ramp"]) as rx:
        mine = b"".join(block.array.tobytes() for block in rx)
        rx.close()
    assert mine == file.read_bytes() == ramp(0, 400_000)


def test_next_returns_none_at_its_timeout():
    with ios.source("sim:", rate=1000, block_size=400_000, timeout="1h") as rx:  # one block takes 100 s
        for timeout in (0, 0.01, "10ms"):
            assert rx.next(timeout=timeout) is None
        assert not rx.ended


def test_next_delivers_a_part_of_a_block_from_a_slow_source(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with open(path, "r+b", buffering=0) as pipe, ios.source(f"file:{path}", format="ci16_le") as rx:
        for first, samples in (0, 100), (400, 7):
            pipe.write(ramp(first, 4 * samples))
            block = rx.next(timeout=30)
            assert block.array.tobytes() == ramp(first, 4 * samples)
            assert block.sample_index == first // 4


def test_close_delivers_received_samples_to_the_other_sinks(tmp_path):
    path, file = tmp_path / "fifo", tmp_path / "a.ci16"
    os.mkfifo(path)
    with open(path, "r+b", buffering=0) as pipe:
        rx = ios.source(f"file:{path}", format="ci16_le", block_size=4096, sinks=[file])
        pipe.write(ramp(0, 6000))
        assert rx.next(timeout=30).nbytes == 4096
        rx.close()
    assert file.read_bytes() == ramp(0, 6000) and rx.stats.samples == 1500


def test_next_always_returns_none_after_the_end():
    with ios.source("sim:", rate=0, samples=10) as rx:
        assert len(rx.next()) == 10
        assert rx.next() is None and rx.ended
        assert rx.next() is None and list(rx) == []


def test_close_returns_the_summary_each_time():
    rx = ios.source("sim:", rate=0, samples=1000)
    assert rx.summary is None
    assert len(rx.next()) == 1000
    summary = rx.close()
    assert summary.ended == "samples" and summary.stats.samples == 1000
    assert rx.close() is summary is rx.summary
    assert ios.source("sim:", rate=0).close().stats.samples == 0  # no block was requested


def test_closing_a_stream_before_its_start_is_not_an_error():
    summary = ios.source("sim:").close()
    assert summary.ended == "signal" and summary.error is None and summary.stats.samples == 0


def test_run_calls_the_function_with_each_block():
    seen = []
    summary = ios.source("sim:", rate=0, samples=100_000).run(lambda block: seen.append(len(block)))
    assert sum(seen) == summary.stats.samples == 100_000


def test_a_stream_can_be_started_again():
    with ios.source("sim:", rate=0, samples=10) as rx:
        assert [block.sample_index for block in rx] == [0]
        rx.start()
        assert [block.sample_index for block in rx] == [0]


def test_stop_from_another_thread_ends_the_iteration():
    with ios.source("sim:", rate=1000, block_size=400_000, timeout="1h") as rx:
        seen = []
        waiting = threading.Thread(target=lambda: seen.extend(rx))
        waiting.start()
        time.sleep(0.05)
        rx.stop()
        waiting.join(30)
        assert not waiting.is_alive()
        assert rx.ended


def test_close_from_another_thread_ends_the_iteration():
    rx = ios.source("sim:", rate=1000, block_size=400_000, timeout="1h")
    failures = []

    def read():
        try:
            list(rx)
        except ValueError as error:  # next() can come after the close
            failures.append(str(error))

    waiting = threading.Thread(target=read)
    waiting.start()
    time.sleep(0.05)
    rx.close()
    rx.close()
    waiting.join(30)
    assert not waiting.is_alive() and failures in ([], ["the stream is closed"])


def test_methods_of_a_closed_stream_raise_an_error():
    rx = ios.source("sim:", rate=0, samples=10)
    rx.close()
    for use in (rx.next, rx.start, rx.stop, rx.fileno, lambda: next(rx)):
        with pytest.raises(ValueError, match="the stream is closed"):
            use()
    assert rx.format.name == "ci16_le"


def test_other_threads_run_while_one_waits():
    with ios.source("sim:", rate=1000, block_size=400_000, timeout="1h") as rx:
        waiting = threading.Thread(target=lambda: rx.next(timeout=2))
        waiting.start()
        turns = 0
        while waiting.is_alive():
            turns += 1
            time.sleep(0.001)
        assert turns > 20


def check_four_threads():
    together = threading.Barrier(4)
    with ios.source("sim:", rate=0, samples=40_000, block_size=4000, blocks=16) as rx:
        places = []

        def read():
            together.wait(60)
            for block in rx:
                places.append((block.sample_index, block.array.tobytes() == ramp(block.position * 4, 4000)))

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(60)
    assert sorted(places) == [(index, True) for index in range(0, 40_000, 1000)]


def test_several_threads_share_a_stream():
    for _ in range(20):  # the first thread starts the stream
        check_four_threads()


def test_a_selector_wakes_up_when_a_block_is_ready():
    with ios.source("sim:", rate="1M", samples=100_000) as rx, selectors.DefaultSelector() as selector:
        selector.register(rx, selectors.EVENT_READ)
        samples = 0
        rx.start()
        while not rx.ended:
            block = rx.next(timeout=0)
            if block is None and not rx.ended:
                assert selector.select(30)
            elif block is not None:
                samples += len(block)
        assert samples == 100_000


def test_the_error_of_an_empty_pool_says_that_the_caller_holds_the_blocks():
    with ios.source("sim:", rate=0, block_size=4096, blocks=4) as rx:
        kept = [next(rx) for _ in range(4)]
        with pytest.raises(ios.PoolExhausted, match="the caller holds all 4 blocks") as caught:
            next(rx)
        assert caught.value.held == rx.held == 4
        kept.pop().release()
        assert next(rx) is not None


def test_a_thread_that_releases_a_block_ends_the_wait():
    with ios.source("sim:", rate=0, block_size=4096, blocks=4) as rx:
        kept = [next(rx) for _ in range(4)]
        timer = threading.Timer(0.2, kept.pop)
        timer.start()
        assert next(rx) is not None
        timer.join()


def test_a_reader_that_keeps_its_blocks_does_not_delay_others_with_on_full_drop():
    with ios.source("sim:", rate=0, block_size=4096, blocks=8, samples=1_000_000, sinks=["null:"],
                    on_full="drop") as rx:
        kept = [next(rx) for _ in range(2)]  # up to half of the eight blocks also wait for this reader
        until(lambda: rx.stats.sinks[0].delivered_samples == 1_000_000, "the end")
        assert [block.sequence for block in kept] == [0, 1]
    assert rx.stats.sinks[-1].dropped_samples > 0


def test_control_c_ends_the_wait(python):
    assert python("""
import os, signal, threading
import iio_stream as ios
signal.signal(signal.SIGINT, signal.default_int_handler)  # undoes an inherited SIG_IGN
with ios.source("sim:", rate=1000, block_size=400_000, timeout="1h") as rx:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        next(rx)
    except KeyboardInterrupt:
        print("interrupted")
print(rx.closed)
""") == "interrupted\nTrue\n"


@pytest.mark.parametrize("how", ["", "sys.exit(0)", "del rx, block; gc.collect()", "rx.stop()",
                                 "ios.kept = rx, view"])
def test_the_interpreter_ends_with_open_streams(python, how):
    python(f"""
import gc, sys
import iio_stream as ios
rx = ios.source("sim:", pattern="ramp", rate="1M")
block = next(rx)
view = block.array
{how}
""")


def test_a_forked_child_cannot_use_the_stream_of_its_parent(python):
    assert python("""
import os, sys
import iio_stream as ios
rx = ios.source("sim:", pattern="ramp", rate="1M", samples=100_000)
first = next(rx)
view = first.array
child = os.fork()
if child == 0:
    try:
        next(rx)
    except RuntimeError as error:
        print("child:", "fork" in str(error), view[0, 0], flush=True)
    del rx, first, view
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print("parent:", len(first) + sum(len(block) for block in rx))
rx.close()
""") == "child: True 0\nparent: 100000\n"


def test_a_fork_inside_a_with_block_does_not_close_the_stream_of_the_parent(python):
    assert python("""
import os
import iio_stream as ios
with ios.source("sim:", pattern="ramp", rate="1M", samples=100_000) as rx:
    count = len(next(rx))
    child = os.fork()
    if child == 0:
        raise SystemExit
    assert os.waitpid(child, 0)[1] == 0
    print("parent:", count + sum(len(block) for block in rx))
""") == "parent: 100000\n"


def test_lists_and_numbers_become_options():
    with ios.source("sim:", rate=2.5e6, channels=["a_i", "a_q"], samples=1) as rx:
        assert [channel.id for channel in rx.format.channels] == ["a_i", "a_q"]
        assert rx.format.sample_rate == 2.5e6
    assert ios.uri("a b.ci16", overwrite=True) == "file:a%20b.ci16?overwrite=on"


def test_an_explicit_timeout_ends_the_wait_for_a_silent_pipe(tmp_path):
    os.mkfifo(tmp_path / "p.ci16")
    with ios.source(tmp_path / "p.ci16", timeout="300ms") as rx, open(tmp_path / "p.ci16", "wb") as writer:
        writer.write(ramp(0, 4000))
        writer.flush()
        assert next(rx).nbytes == 4000
        with pytest.raises(ios.Error, match="no samples came within 300 ms") as caught:
            next(rx)
        assert caught.value.errno == errno.ETIMEDOUT
