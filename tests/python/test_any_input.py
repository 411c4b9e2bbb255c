# SPDX-License-Identifier: MIT
"""Any value for an endpoint, a size or an option is accepted or refused with an Error."""
import contextlib

import counts
from conftest import ramp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import iio_stream as ios
from iio_stream import _options
from iio_stream._printable import printable

ANY = settings(max_examples=counts.EXAMPLES, deadline=None, database=None,
               suppress_health_check=[HealthCheck.too_slow])
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30)
NUMBERS = st.one_of(st.integers(-2**70, 2**70), st.floats(), TEXT,
                    st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,3})?([kMGT]i?|ms|s|us|ns|min|h)?", fullmatch=True))
KEYS = st.sampled_from(["pattern", "rate", "channels", "frequency", "format", "seed", "drop_at", "drop",
                        "stall_for", "memory", "convert"])


@ANY
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), TEXT, max_size=4))
def test_uri_is_idempotent(options):
    address = ios.uri("sim:", **options)
    assert ios.uri(address) == address
    assert (address == "sim:") == (not options)


@ANY
@given(TEXT)
def test_any_text_is_an_address_or_refused(text):
    try:
        once = ios.uri(text)
    except ios.UsageError as error:
        assert f"{error}".count("'") >= 2 or printable(text) in str(error), error
    else:
        assert ios.uri(once) == once


@ANY
@given(st.dictionaries(KEYS, NUMBERS, max_size=3),
       st.fixed_dictionaries({}, optional={"block_size": NUMBERS, "blocks": NUMBERS, "samples": NUMBERS,
                                           "duration": NUMBERS, "timeout": NUMBERS}))
@example({}, {"block_size": 2017612633061982688})
@example({"convert": "\x1f"}, {})
def test_a_source_is_opened_or_refused(options, limits):
    try:
        with ios.source("sim:", **options, **limits) as rx:
            assert rx.format.sample_bytes > 0 and rx.route
    except ios.UsageError as error:
        told = str(error).replace(" ", "_")
        assert any(key in told or f"'{printable(_options.word(value))}'" in str(error)
                   for key, value in {**options, **limits}.items()), error
    except ios.Error as error:  # the request is valid, but needs more than the machine has
        assert error.object.startswith("sim:"), error


@ANY
@given(st.sampled_from(["ci16_le", "ci8", "ri16_le", "cf32_le"]), st.integers(1, 5000), st.integers(1, 64),
       st.integers(2, 12))
def test_blocks_of_any_size_deliver_every_sample(format, samples, units, blocks):
    width = ios.Format.parse(format).sample_bytes
    with ios.source("sim:", format=format, rate=0, samples=samples, block_size=width * 8 * units,
                    blocks=blocks) as rx:
        assert b"".join(block.array.tobytes() for block in rx) == ramp(0, samples * width)


@ANY
@given(st.sampled_from(["uU", "sS", "fF", "xX"]), st.integers(0, 70), st.integers(0, 70), st.integers(0, 70),
       st.sampled_from(["le", "be", "xe"]), st.integers(1, 65))
def test_a_scan_type_has_a_dtype_or_is_refused(kind, bits, storage, shift, order, repeat):
    text = f"{order}:{kind[0]}{bits}/{storage}{f'X{repeat}' if repeat > 1 else ''}>>{shift}"
    with contextlib.suppress(ios.UsageError):
        format = ios.Format.parse(text)
        assert format.dtype.itemsize == format.sample_bytes == storage // 8 * repeat
