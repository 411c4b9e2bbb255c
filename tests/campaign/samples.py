# SPDX-License-Identifier: MIT
"""An independent model, in NumPy, of the samples that docs/simulator.md and SigMF define."""
import re

import numpy as np


class Format:
    """A SigMF datatype and the number of values in a sample."""

    def __init__(self, name, values=None):
        self.name = name
        kind, letter, bits, order = re.fullmatch(r"([cr])([iuf])(\d+)(?:_(le|be))?", name).groups()
        self.letter, self.bits = letter, int(bits)
        self.values = values or (2 if kind == "c" else 1)
        self.dtype = np.dtype((">" if order == "be" else "<") + letter + str(self.bits // 8))
        self.sample_bytes = self.values * self.dtype.itemsize
        # The value that zero-fill writes. Unsigned I/Q pairs are offset binary, such as rtl_sdr's cu8.
        self.zero = 1 << (self.bits - 1) if kind == "c" and letter == "u" else 0

    def zeros(self, samples):
        return np.full((samples, self.values), self.zero, self.dtype)


def ramp(first, count):
    """Returns bytes of the ramp: a count in 64-bit little-endian words."""
    words = np.arange(first // 8, (first + count + 7) // 8, dtype="<u8")
    return words.view(np.uint8)[first % 8:][:count]


def edges(form, samples):
    """Returns real values at, just below and just above the midpoint of two integers, at the ends of the
    scale and beyond, and NaN."""
    chance = np.random.Generator(np.random.PCG64(samples))
    count = samples * form.values
    bits = chance.choice([8, 16], count)
    middle = (chance.integers(-1 << 15, 1 << 15, count) + 0.5) / 2.0 ** (bits - 1)
    middle = middle.astype(form.dtype)
    aside = np.nextafter(middle, chance.choice([-9.0, 9.0], count).astype(form.dtype))
    values = np.where(chance.random(count) < 0.6, aside, middle)
    odd = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan])
    values = np.where(chance.random(count) < 0.1, chance.choice(odd, count), values)
    return values.astype(form.dtype).view(np.uint8)


def convert(data, source, target):
    """Converts bytes of the format `source` to `target`. Full scale is 1.0. Values are rounded to the nearest
    value, upwards if two are equally near, and limited to the scale. NaN becomes 0."""
    values = np.frombuffer(data, source.dtype)
    with np.errstate(all="ignore"):
        if source.letter == "f" and target.letter == "f":
            return values.astype(target.dtype).view(np.uint8)
        if source.letter == "f":
            return _to_integers(np.nan_to_num(np.clip(values.astype(np.longdouble), -1, 1)), target)
        whole = values.astype(np.int64)
        if source.letter == "u":
            whole -= 1 << (source.bits - 1)
        if target.letter == "f":
            return np.ldexp(whole.astype(np.float64), 1 - source.bits).astype(target.dtype).view(np.uint8)
        return _to_integers(np.ldexp(whole.astype(np.longdouble), 1 - source.bits), target)


def _to_integers(values, target):
    scale = 1 << (target.bits - 1)
    whole = np.minimum(np.floor(values * scale + np.longdouble(0.5)), scale - 1).astype(np.int64)
    if target.letter == "u":
        whole += scale
    return whole.astype(target.dtype).view(np.uint8)


def restored(data, target, source):
    """Returns the bytes of `source` that were converted to `data`, or None if any bit was lost."""
    if source.letter == "f" or (target.letter == "f" and target.bits // 2 + 8 * (target.bits == 32) < source.bits):
        return None
    if target.letter != "f" and target.bits < source.bits:
        return None
    back = convert(data, target, source)
    return back if np.array_equal(convert(back, source, target), np.frombuffer(data, np.uint8)) else None


class Runs:
    """The parts of the ramp that some bytes contain, as runs: (first sample, sample after the last, offset of
    the stream's index from the file's, earliest sample that could be the first, latest that could be the
    sample after the last). Zeros are not a run, but zeros beside a run can be the ramp's own zeros. `zero`
    has the bytes of a zero sample."""

    def __init__(self, data, sample_bytes, hints=(), zero=None):
        self.data, self.size = data, sample_bytes
        self.zero = np.zeros(sample_bytes, np.uint8) if zero is None else zero
        self.count = len(data) // sample_bytes
        # After this sample there is no complete word to identify a position.
        self.clear = max(0, self.count - 16 // sample_bytes - 1)
        self.runs, self.strange = [], []
        at = 0
        while at < self.count:
            index = self._locate(at, hints)
            if index is None:
                at = self._skip(at)
                continue
            end = at + self._matching(at, index)
            self.runs.append((at, end, index - at, at - self._matching_before(at, index), self._before_zeros(at, end)))
            at = end

    def _before_zeros(self, begin, end):
        """Returns where the zeros begin after the run, or the run's end if there are none."""
        if end == self.count or not self._is_zero(end):
            return end
        while end > begin and self._is_zero(end - 1):
            end -= 1
        return end

    def _is_zero(self, at):
        return np.array_equal(self.data[at * self.size:(at + 1) * self.size], self.zero)

    def _skip(self, at):
        rest = self.data[at * self.size:self.count * self.size].reshape(-1, self.size)
        some = np.flatnonzero((rest != self.zero).any(axis=1))
        zeros = int(some[0]) if len(some) else len(rest)
        self.strange.append((at, at + max(zeros, 1), zeros > 0))
        return at + max(zeros, 1)

    def _matching(self, at, index):
        done, step = 0, 4096 * self.size
        end = (self.count - at) * self.size
        while done < end:
            rest = self.data[at * self.size + done:][:min(step, end - done)]
            wrong = np.flatnonzero(rest != ramp(index * self.size + done, len(rest)))
            if len(wrong):
                return (done + int(wrong[0])) // self.size
            done, step = done + len(rest), 2 * step
        return self.count - at

    def _matching_before(self, at, index):
        back = min(at, index, 64)
        rest = self.data[(at - back) * self.size:at * self.size]
        wrong = np.flatnonzero(rest != ramp((index - back) * self.size, len(rest)))
        return back - int(wrong[-1]) // self.size - 1 if len(wrong) else back

    def _locate(self, at, hints):
        rest = self.data[at * self.size:at * self.size + 64]
        # The index that continues the stream at a file's beginning.
        on = hints[0] if at == 0 and hints else None
        if on is not None and np.array_equal(rest[:16], ramp(on * self.size, len(rest[:16]))):
            return on
        for shift in range(8 if len(rest) >= 16 else 0):
            place = 8 * int.from_bytes(rest[shift:shift + 8].tobytes(), "little") - shift
            # Zeros belong to a gap or to a file's end, unless they are the very first word.
            if place >= 0 and place % self.size == 0 and place < 1 << 48 and rest.any() and \
                    np.array_equal(rest[:max(16, 2 * self.size)], ramp(place, len(rest[:max(16, 2 * self.size)]))):
                return place // self.size
        if on is not None and np.array_equal(rest[:self.size], ramp(on * self.size, self.size)[:len(rest)]):
            return on  # accepts even a single sample
        if len(rest) < 16 + self.size:  # too few bytes for a word: accepts the index of the metadata
            for offset in hints:
                if at + offset >= 0 and np.array_equal(rest, ramp((at + offset) * self.size, len(rest))):
                    return at + offset
        return None
