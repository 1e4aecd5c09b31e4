/* Lets calls of the C library fail on files below one folder. Loaded with LD_PRELOAD; armed by the traced program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { SHORT_WRITE = -1 };

static char folder[4096];
static atomic_long calls, hits, first;
static int failure, lasts;

void fault_watch(const char *path) { strncpy(folder, path, sizeof folder - 1); calls = hits = first = 0; }
void fault_arm(long at, int error, int for_ever) { failure = error; lasts = for_ever; first = at; }
long fault_calls(void) { return calls; }
long fault_hits(void) { return hits; }

static int is_watched(const char *path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }

static int is_watched_file(int fd) {
    char name[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    long size = syscall(SYS_readlinkat, AT_FDCWD, name, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return is_watched(path);
}

static int fails(int watched) {
    if (!watched) return 0;
    long number = atomic_fetch_add(&calls, 1) + 1, from = first;
    if (!from || number < from || (number > from && !lasts)) return 0;
    atomic_fetch_add(&hits, 1);
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(watched, name, ...) \
    do { \
        if (fails(watched) && failure != SHORT_WRITE) { errno = failure; return -1; } \
        return NEXT(name)(__VA_ARGS__); \
    } while (0)
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }

int open(const char *path, int flags, ...) { MODE(flags) CALL(is_watched(path), open, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) CALL(is_watched(path), open64, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) CALL(is_watched(path), openat, at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) CALL(is_watched(path), openat64, at, path, flags, mode); }
ssize_t read(int fd, void *data, size_t size) { CALL(is_watched_file(fd), read, fd, data, size); }
ssize_t pread(int fd, void *data, size_t size, off_t at) { CALL(is_watched_file(fd), pread, fd, data, size, at); }
ssize_t pread64(int fd, void *data, size_t size, off64_t at) { CALL(is_watched_file(fd), pread64, fd, data, size, at); }
int fsync(int fd) { CALL(is_watched_file(fd), fsync, fd); }
int fdatasync(int fd) { CALL(is_watched_file(fd), fdatasync, fd); }
int ftruncate(int fd, off_t size) { CALL(is_watched_file(fd), ftruncate, fd, size); }
int ftruncate64(int fd, off64_t size) { CALL(is_watched_file(fd), ftruncate64, fd, size); }
int fchmod(int fd, mode_t mode) { CALL(is_watched_file(fd), fchmod, fd, mode); }
int rename(const char *from, const char *to) { CALL(is_watched(from), rename, from, to); }
int link(const char *from, const char *to) { CALL(is_watched(from), link, from, to); }
int unlink(const char *path) { CALL(is_watched(path), unlink, path); }
int mkdir(const char *path, mode_t mode) { CALL(is_watched(path), mkdir, path, mode); }

#define WRITE(name, ...) \
    do { \
        if (fails(is_watched_file(fd))) { \
            if (failure != SHORT_WRITE) { errno = failure; return -1; } \
            if (size > 1) size /= 2; \
        } \
        return NEXT(name)(__VA_ARGS__); \
    } while (0)

ssize_t write(int fd, const void *data, size_t size) { WRITE(write, fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { WRITE(pwrite, fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { WRITE(pwrite64, fd, data, size, at); }
