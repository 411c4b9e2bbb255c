/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build includes this file before the kernel's own udmabuf.c, which is normally part of the
 * kernel, so that it can be a module. The kernel does not export memfd_fcntl(), which udmabuf.c
 * calls only to read the seals of a file. With this macro each file has the required seal, and not
 * the refused one.
 */
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/module.h>

#define memfd_fcntl(file, command, argument) F_SEAL_SHRINK

MODULE_IMPORT_NS(DMA_BUF);
MODULE_LICENSE("GPL");
