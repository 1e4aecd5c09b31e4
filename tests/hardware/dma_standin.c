/* Stands in for the kernel's dma-heaps where it has none (containers, small virtual machines): buffers are memfds.
 * For LD_PRELOAD; it changes nothing else.       cc -shared -fPIC -O2 -o dma_standin.so dma_standin.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static const char HEAPS[] = "/dev/dma_heap/";

static int opened(const char *name, const char *path, int flags, mode_t mode)
{
	if (path && strncmp(path, HEAPS, sizeof(HEAPS) - 1) == 0)
		return memfd_create("heap", MFD_CLOEXEC);
	return ((int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, name))(path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = mode_of(flags, rest);
	va_end(rest);
	return opened("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = mode_of(flags, rest);
	va_end(rest);
	return opened("open64", path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	va_start(rest, request);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	switch ((unsigned int)request) {
	case (unsigned int)DMA_HEAP_IOCTL_ALLOC: {
		struct dma_heap_allocation_data *wanted = argument;
		int buffer = memfd_create("buffer", MFD_CLOEXEC);
		if (buffer < 0)
			return -1;
		if (ftruncate(buffer, (off_t)wanted->len) < 0) {
			close(buffer);
			return -1;
		}
		wanted->fd = (__u32)buffer;
		return 0;
	}
	case (unsigned int)DMA_BUF_IOCTL_SYNC:
	case (unsigned int)DMA_BUF_SET_NAME_A:
	case (unsigned int)DMA_BUF_SET_NAME_B:
		return 0;
	}
	return ((int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl"))(fd, request, argument);
}
