# SPDX-License-Identifier: MIT
"""Compares the losses in a board's headers with its samples, which are a ramp of counting words."""
import struct

HEADER = struct.Struct("<IHHIIQQqIIIIqqQQIII")  # docs/usb-protocol.md
NOT_EXACT, NO_LOSS = 2, 255


class Account:
    def __init__(self):
        self.position, self.begin, self.next = 0, None, None
        self.found, self.told = [], []  # (position, samples); (first place, last place, least, most)

    def block(self, header, data):
        """Adds a received block."""
        (_, _, _, _, flags, _, index, _, _, valid, evidence, _,
         earliest, latest, least, most, *_) = HEADER.unpack_from(header)
        words = struct.unpack_from(f"<{valid // 8}Q", data)
        if evidence != NO_LOSS:
            self.told.append((self.position + earliest, self.position + latest, least, most))
        if self.begin is None:
            self.begin, self.next = words[0] - index, words[0]
        assert flags & NOT_EXACT or words[0] - index == self.begin, "an exact index differs from the ramp"
        for place, word in enumerate(words, self.position):
            assert word >= self.next, f"sample {place} is {word}, after {self.next - 1}"
            if word != self.next:
                self.found.append((place, word - self.next))
            self.next = word + 1
        self.position += len(words)

    def check(self):
        """Checks that each loss is in the place and within the bounds of a header."""
        groups = []  # overlapping intervals share the losses found in them
        for first, last, least, most in sorted(self.told):
            if groups and first <= groups[-1][1]:
                group = groups[-1]
                group[1:] = max(group[1], last), group[2] + least, group[3] + most
            else:
                groups.append([first, last, least, most])
        for place, lost in self.found:
            assert any(first <= place <= last for first, last, *_ in groups), \
                f"{lost} samples are missing before {place}, and no header reports it: {self.told}"
        for first, last, least, most in groups:
            lost = sum(lost for place, lost in self.found if first <= place <= last)
            assert lost <= most, f"{lost} missing, but at most {most} reported"
            assert lost >= least or last > self.position, f"{lost} missing, but at least {least} reported"
