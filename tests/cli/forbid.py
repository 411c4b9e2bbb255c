#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command under a seccomp filter of system calls, as containers do:

    forbid.py ENOSYS io_uring_setup,io_setup COMMAND …
    forbid.py ENOTTY ioctl:0xc0046991 COMMAND …    only this ioctl request
"""
import ctypes
import errno
import os
import platform
import struct
import sys

# seccomp's architecture numbers, and the system call numbers on each architecture.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {"io_uring_setup": {"x86_64": 425, "aarch64": 425}, "io_setup": {"x86_64": 206, "aarch64": 0},
         "ioctl": {"x86_64": 16, "aarch64": 29}}

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF instructions: load a 32-bit word; jump if equal; return
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, SECOND = 0, 4, 24  # offsets in seccomp_data; low half of the second argument


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def program(calls, error):
    machine = platform.machine()
    words = [call.partition(":") for call in calls]
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, ALLOW),
             (LOAD, 0, 0, NUMBER)]
    for call, _, argument in words:
        answer = [(RETURN, 0, 0, ERRNO | error)]
        if argument:
            answer = [(LOAD, 0, 0, SECOND), (EQUAL, 0, 1, int(argument, 0)), *answer, (LOAD, 0, 0, NUMBER)]
        steps += [(EQUAL, 0, len(answer), CALLS[call][machine]), *answer]
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps), len(steps)


def install(calls, error):
    code, length = program(calls, error)
    memory = ctypes.create_string_buffer(code, len(code))
    filters = Program(length, ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                  (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filters), 0, 0)):
        if libc.prctl(*words) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    install(sys.argv[2].split(","), getattr(errno, sys.argv[1]))
    os.execv(sys.argv[3], sys.argv[3:])
