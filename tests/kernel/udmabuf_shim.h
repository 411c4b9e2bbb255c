/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before the kernel's own udmabuf.c, which is made to be part of the kernel, so that it
 * becomes a module. The kernel does not export memfd_fcntl(), which udmabuf.c calls only to read a
 * file's seals: here each file has the seal that is required, and not the one that is refused.
 */
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/module.h>

#define memfd_fcntl(file, command, argument) F_SEAL_SHRINK

MODULE_IMPORT_NS(DMA_BUF);
MODULE_LICENSE("GPL");
