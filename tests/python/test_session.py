# SPDX-License-Identifier: MIT
"""Sessions: readers, writers and pipelines that start together."""
import threading

import pytest
from conftest import ramp

import iio_stream as ios


def pair(session, **options):
    rx = session.add_reader("sim:", rate=0, **options)
    return rx, session.add_writer("null:", format=rx.format)


def test_members_are_ready_before_the_start_and_start_together():
    with ios.Session() as session:
        rx, tx = pair(session, samples=50_000)
        assert rx.format.name == tx.format.name == "ci16_le"
        assert [pipeline.stats.seconds for pipeline in session.pipelines] == [0, 0]
        session.start()
        assert all(pipeline.stats.seconds > 0 for pipeline in session.pipelines)
        assert sum(tx.write(block) for block in rx) == 50_000
        assert tx.close().stats.samples == 50_000


@pytest.mark.parametrize("first", ["read", "written"])
def test_the_first_block_of_one_member_starts_all(first):
    with ios.Session() as session:
        rx, tx = pair(session)
        if first == "read":
            assert rx.next(timeout=30) is not None
        else:
            assert tx.write(bytes(4)) == 1
        assert all(pipeline.stats.seconds > 0 for pipeline in session.pipelines)


def test_leaving_the_with_block_waits_for_written_samples(tmp_path):
    with ios.Session() as session:
        rx = session.add_reader("sim:", rate=0, samples=100_000)
        tx = session.add_writer(tmp_path / "a.ci16", format=rx.format)
        for block in rx:
            tx.write(block)
    assert (tmp_path / "a.ci16").read_bytes() == ramp(0, 400_000)
    assert tx.closed and rx.closed and tx.summary.ended == "eof"


def test_members_can_be_used_by_different_threads(tmp_path):
    with ios.Session() as session:
        rx = session.add_reader("sim:", rate=0, samples=100_000)
        tx = session.add_writer(tmp_path / "a.ci16", format=rx.format)
        writing = threading.Thread(target=lambda: tx.write(ramp(0, 40_000)))
        writing.start()
        assert sum(len(block) for block in rx) == 100_000
        writing.join()
    assert (tmp_path / "a.ci16").read_bytes() == ramp(0, 40_000)


def test_a_session_can_have_members_and_pipelines(tmp_path):
    with ios.Session() as session:
        session.add("sim:?rate=0", tmp_path / "a.ci16", samples=1000)
        rx = session.add_reader("sim:", rate=0, samples=2000)
        assert sum(len(block) for block in rx) == 2000
        assert session.wait(30)
    assert (tmp_path / "a.ci16").stat().st_size == 4000
    assert [pipeline.summary.stats.samples for pipeline in session.pipelines] == [1000, 2000]


def test_a_member_that_cannot_be_prepared_is_not_added():
    with ios.Session() as session:
        rx, _ = pair(session)
        with pytest.raises(ios.UsageError, match="ratee"):
            session.add_reader("sim:", ratee=1)
        with pytest.raises(FileNotFoundError):
            session.add_reader("/nowhere/a.ci16", format="ci16_le")
        assert rx.next(timeout=30) is not None
        with pytest.raises(ios.UsageError, match="running session"):
            session.add_reader("sim:")


def test_blocks_outlive_the_session():
    with ios.Session() as session:
        rx, _ = pair(session)
        view = rx.next(timeout=30).array
    assert view.tobytes() == ramp(0, view.nbytes)
    with pytest.raises(ValueError, match="closed"):
        rx.next()
