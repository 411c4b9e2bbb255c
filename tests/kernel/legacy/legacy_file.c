// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block requests on the file of an IIO device and on the file of a buffer. The core stays
 * unmodified. When a device is added, its file operations are replaced by a copy with these
 * functions, and so are the operations of each buffer's file.
 */
#include <linux/cdev.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/iio/iio.h>
#include <linux/iio/iio-opaque.h>

#include "legacy.h"

/* The private data of both kinds of files, which no public header of the kernel defines. */
struct file_pair {
	struct iio_dev *indio_dev;
	struct iio_buffer *buffer;
};

static const struct file_operations *device_core, *buffer_core;	/* the core's operations */
static struct file_operations device_operations, buffer_operations;
static DEFINE_MUTEX(copy_lock);

static struct iio_buffer *buffer_of(struct file *file)
{
	return ((struct file_pair *)file->private_data)->buffer;
}

/* ADI's 6.x kernels before #3282 corrupt memory here. */
static void check_fileio(struct file *file, const char *call)
{
	if (legacy_mode() == LEGACY_BROKEN && legacy_buffer_known(buffer_of(file)))
		panic("iios-legacy: %s() on a DMA buffer corrupts memory on ADI's kernel", call);
}

static ssize_t device_read(struct file *file, char __user *data, size_t n, loff_t *at)
{
	check_fileio(file, "read");
	return device_core->read(file, data, n, at);
}

static ssize_t device_write(struct file *file, const char __user *data, size_t n, loff_t *at)
{
	check_fileio(file, "write");
	return device_core->write(file, data, n, at);
}

static ssize_t buffer_read(struct file *file, char __user *data, size_t n, loff_t *at)
{
	check_fileio(file, "read");
	return buffer_core->read(file, data, n, at);
}

static ssize_t buffer_write(struct file *file, const char __user *data, size_t n, loff_t *at)
{
	check_fileio(file, "write");
	return buffer_core->write(file, data, n, at);
}

static bool is_block_request(unsigned int request)
{
	switch (request) {
	case LEGACY_ALLOC:
	case LEGACY_FREE:
	case LEGACY_QUERY:
	case LEGACY_ENQUEUE:
	case LEGACY_DEQUEUE:
		return true;
	}
	return false;
}

static long dequeue(struct file *file, struct legacy_buffer *buffer, struct legacy_block_info __user *to)
{
	struct iio_dev *indio_dev = ((struct file_pair *)file->private_data)->indio_dev;
	struct iio_buffer *iio = &buffer->queue.buffer;
	struct legacy_block_info info;
	int ret;

	while ((ret = legacy_dequeue(buffer, &info)) == -EAGAIN && !(file->f_flags & O_NONBLOCK)) {
		ret = wait_event_interruptible(iio->pollq, !indio_dev->info || legacy_blocks_done_bytes(buffer));
		if (ret)
			return ret;
		if (!indio_dev->info)
			return -ENODEV;
	}
	if (ret)
		return ret;
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static long with_info(struct legacy_buffer *buffer, unsigned int request, struct legacy_block_info __user *user)
{
	struct legacy_block_info info;
	int ret;

	if (copy_from_user(&info, user, sizeof(info)))
		return -EFAULT;
	if (request == LEGACY_ENQUEUE)
		return legacy_enqueue(buffer, &info);
	ret = legacy_query(buffer, &info);
	if (ret)
		return ret;
	return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
}

static long allocate(struct legacy_buffer *buffer, struct legacy_alloc_request __user *user)
{
	struct legacy_alloc_request request;
	int ret;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	ret = legacy_alloc(buffer, &request);
	if (ret)
		return ret;
	return copy_to_user(user, &request, sizeof(request)) ? -EFAULT : 0;
}

static long block_request(struct file *file, unsigned int request, void __user *user)
{
	struct legacy_buffer *buffer = legacy_buffer_known(buffer_of(file));

	if (!buffer)	/* the buffer is a kfifo */
		return request == LEGACY_FREE ? 0 : -ENOSYS;
	switch (request) {
	case LEGACY_ALLOC:
		return allocate(buffer, user);
	case LEGACY_FREE:
		legacy_free(buffer);
		return 0;
	case LEGACY_DEQUEUE:
		return dequeue(file, buffer, user);
	default:
		return with_info(buffer, request, user);
	}
}

static int map(struct file *file, struct vm_area_struct *vma)
{
	struct legacy_buffer *buffer = legacy_buffer_known(buffer_of(file));
	vm_flags_t needed;

	if (!buffer)
		return -ENODEV;
	needed = buffer->queue.buffer.direction == IIO_BUFFER_DIRECTION_IN ? VM_READ : VM_WRITE;
	if (!(vma->vm_flags & VM_SHARED) || !(vma->vm_flags & needed))
		return -EINVAL;
	return legacy_mmap(buffer, vma);
}

static long buffer_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	if (is_block_request(request))
		return block_request(file, request, (void __user *)arg);
	return buffer_core->unlocked_ioctl(file, request, arg);
}

static int buffer_close(struct inode *inode, struct file *file)
{
	struct legacy_buffer *buffer = legacy_buffer_known(buffer_of(file));

	if (buffer) {
		legacy_free(buffer);
		WRITE_ONCE(buffer->has_file, false);
	}
	return buffer_core->release(inode, file);
}

static int device_close(struct inode *inode, struct file *file)
{
	struct legacy_buffer *buffer = legacy_buffer_known(buffer_of(file));

	if (buffer && !READ_ONCE(buffer->has_file))
		legacy_free(buffer);
	return device_core->release(inode, file);
}

static int take_over_buffer_file(struct iio_dev *indio_dev, int number)
{
	struct file *file __free(fput) = fget(number);
	struct file_pair *pair = file ? file->private_data : NULL;
	struct legacy_buffer *buffer;

	if (!file)
		return -EBADF;
	if (WARN(pair->indio_dev != indio_dev || !pair->buffer, "iios-legacy: the core's private data has changed"))
		return -EIO;
	scoped_guard(mutex, &copy_lock) {
		if (!buffer_core) {
			buffer_operations = *file->f_op;
			buffer_operations.owner = THIS_MODULE;
			buffer_operations.read = buffer_read;
			buffer_operations.write = buffer_write;
			buffer_operations.unlocked_ioctl = buffer_ioctl;
			buffer_operations.mmap = map;
			buffer_operations.release = buffer_close;
			buffer_core = file->f_op;
		}
	}
	buffer = legacy_buffer_known(pair->buffer);
	if (buffer)
		WRITE_ONCE(buffer->has_file, true);
	__module_get(THIS_MODULE);
	file->f_op = &buffer_operations;
	module_put(buffer_core->owner);
	return 0;
}

static long device_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	struct iio_dev *indio_dev = ((struct file_pair *)file->private_data)->indio_dev;
	long ret;
	int number;

	if (is_block_request(request)) {
		guard(mutex)(&to_iio_dev_opaque(indio_dev)->info_exist_lock);
		return indio_dev->info ? block_request(file, request, (void __user *)arg) : -ENODEV;
	}
	ret = device_core->unlocked_ioctl(file, request, arg);
	if (ret || request != IIO_BUFFER_GET_FD_IOCTL)
		return ret;
	if (get_user(number, (int __user *)arg))
		return -EFAULT;
	return take_over_buffer_file(indio_dev, number);
}

static void take_over_device_file(struct iio_dev_opaque *opaque)
{
	guard(mutex)(&copy_lock);
	if (!device_core) {
		device_operations = *opaque->chrdev.ops;
		device_operations.owner = THIS_MODULE;
		device_operations.read = device_read;
		device_operations.write = device_write;
		device_operations.unlocked_ioctl = device_ioctl;
		device_operations.mmap = map;
		device_operations.release = device_close;
		device_core = opaque->chrdev.ops;
	}
	opaque->chrdev.ops = &device_operations;
}

static int device_added(struct notifier_block *block, unsigned long action, void *data)
{
	struct device *dev = data;

	/* Triggers, which are on the same bus, have no file. */
	if (action == BUS_NOTIFY_ADD_DEVICE && MAJOR(dev->devt)) {
		struct iio_dev_opaque *opaque = to_iio_dev_opaque(dev_to_iio_dev(dev));

		if (opaque->attached_buffers_cnt)
			take_over_device_file(opaque);
	}
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = device_added };

int legacy_file_init(void)
{
	return bus_register_notifier(&iio_bus_type, &notifier);
}
