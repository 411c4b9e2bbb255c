/* SPDX-License-Identifier: GPL-2.0-only */
/* Where Linux 6.1 and 6.12 differ in what the simulator uses. */
#ifndef SIM_COMPAT_H
#define SIM_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* DMABUFs, output buffers on dmaengine, vectors of addresses instead of scatterlists. */
#define SIM_HAS_DMABUF	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0))

/* industrialio-backend with its files in debugfs. */
#define SIM_HAS_BACKEND	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))

#endif
