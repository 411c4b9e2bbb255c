// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of blocks. ADI's kernels take it from CMA. Debian's amd64 kernel has no CMA, and its page
 * allocator supports at most 4 MiB, so a larger block is composed of adjacent pieces.
 */
#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "legacy.h"

static unsigned long long cma;
module_param(cma, ullong, 0644);
MODULE_PARM_DESC(cma, "Limit on the total memory of all blocks in bytes, 0: no limit");

static atomic64_t allocated = ATOMIC64_INIT(0);

#ifdef CONFIG_X86
#define PIECE_BYTES	(PAGE_SIZE << MAX_PAGE_ORDER)
#define MOST_PIECES	192	/* limit on the pieces that are allocated to find adjacent ones */

static int by_address(const void *a, const void *b)
{
	unsigned long left = *(const unsigned long *)a, right = *(const unsigned long *)b;

	return left < right ? -1 : left > right;
}

/* Returns the index of the first of `want` adjacent pieces in a sorted table, or `count`. */
static unsigned int neighbors(const unsigned long *pieces, unsigned int count, unsigned int want)
{
	unsigned int first = 0, next;

	for (next = 1; next <= count; next++) {
		if (next - first == want)
			return first;
		if (next < count && pieces[next] != pieces[next - 1] + PIECE_BYTES)
			first = next;
	}
	return count;
}

static void *large_alloc(size_t bytes, dma_addr_t *address)
{
	unsigned int want = DIV_ROUND_UP(bytes, PIECE_BYTES), count = 0, first = 0, i;
	unsigned long *pieces __free(kfree) = kcalloc(MOST_PIECES, sizeof(*pieces), GFP_KERNEL);
	void *memory = NULL;

	while (pieces && count < MOST_PIECES && !memory) {
		pieces[count] = __get_free_pages(GFP_KERNEL | GFP_DMA32 | __GFP_NORETRY | __GFP_NOWARN, MAX_PAGE_ORDER);
		if (!pieces[count])
			break;
		sort(pieces, ++count, sizeof(*pieces), by_address, NULL);
		first = neighbors(pieces, count, want);
		if (first < count)
			memory = (void *)pieces[first];
	}
	for (i = 0; i < count; i++)
		if (!memory || i < first || i >= first + want)
			free_pages(pieces[i], MAX_PAGE_ORDER);
	if (memory) {
		memset(memory, 0, bytes);
		*address = virt_to_phys(memory);
	}
	return memory;
}

static void large_free(void *memory, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += PIECE_BYTES)
		free_pages((unsigned long)memory + at, MAX_PAGE_ORDER);
}
#else
#define PIECE_BYTES	SIZE_MAX

static void *large_alloc(size_t bytes, dma_addr_t *address)
{
	return NULL;
}

static void large_free(void *memory, size_t bytes)
{
}
#endif

void *legacy_memory_alloc(struct device *dev, size_t bytes, dma_addr_t *address)
{
	void *memory = NULL;

	if (atomic64_add_return(bytes, &allocated) <= cma || !cma)
		memory = bytes > PIECE_BYTES ? large_alloc(bytes, address) :
			 dma_alloc_coherent(dev, bytes, address, GFP_KERNEL | __GFP_NOWARN);
	if (!memory)
		atomic64_sub(bytes, &allocated);
	return memory;
}

void legacy_memory_free(struct device *dev, void *memory, size_t bytes, dma_addr_t address)
{
	if (bytes > PIECE_BYTES)
		large_free(memory, bytes);
	else
		dma_free_coherent(dev, bytes, memory, address);
	atomic64_sub(bytes, &allocated);
}
