/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build includes this file before each source file. It leaves out the tables of supported
 * devices, by which modules are loaded automatically. The lab loads its modules by name.
 */
#include <linux/module.h>

#undef MODULE_DEVICE_TABLE
#define MODULE_DEVICE_TABLE(type, name)
