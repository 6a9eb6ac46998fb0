/*
 * Put before the C library by LD_PRELOAD: a disk that fails. The file that $IO_FAULTS names holds one line for each
 * fault, "read PATH", "write PATH" or "list PATH": what is done with that file or folder ends in EIO, as long as the
 * line stands there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(const char *operation, const char *path) {
  const char *faults = getenv("IO_FAULTS");
  if (!faults || !path) return 0;
  /* System calls themselves: the functions are the ones below. */
  int file = syscall(SYS_openat, AT_FDCWD, faults, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char lines[4096], line[1200];
  ssize_t length = syscall(SYS_read, file, lines + 1, sizeof lines - 3);
  syscall(SYS_close, file);
  if (length <= 0) return 0;
  lines[0] = '\n';
  lines[length + 1] = '\n';
  lines[length + 2] = 0;
  snprintf(line, sizeof line, "\n%s %s\n", operation, path);
  return strstr(lines, line) != NULL;
}

static int fd_fails(const char *operation, int fd) {
  char link[64], path[1024];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = 0;
  return fails(operation, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAULT(condition) if (condition) { errno = EIO; return -1; }

ssize_t read(int fd, void *to, size_t n) { FAULT(fd_fails("read", fd)) return REAL(read)(fd, to, n); }
ssize_t pread(int fd, void *to, size_t n, off_t at) { FAULT(fd_fails("read", fd)) return REAL(pread)(fd, to, n, at); }
ssize_t pread64(int fd, void *to, size_t n, off64_t at) { FAULT(fd_fails("read", fd)) return REAL(pread64)(fd, to, n, at); }
ssize_t readv(int fd, const struct iovec *to, int n) { FAULT(fd_fails("read", fd)) return REAL(readv)(fd, to, n); }
ssize_t preadv(int fd, const struct iovec *to, int n, off_t at) { FAULT(fd_fails("read", fd)) return REAL(preadv)(fd, to, n, at); }
ssize_t preadv64(int fd, const struct iovec *to, int n, off64_t at) { FAULT(fd_fails("read", fd)) return REAL(preadv64)(fd, to, n, at); }
ssize_t write(int fd, const void *from, size_t n) { FAULT(fd_fails("write", fd)) return REAL(write)(fd, from, n); }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) { FAULT(fd_fails("write", fd)) return REAL(pwrite)(fd, from, n, at); }
ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at) { FAULT(fd_fails("write", fd)) return REAL(pwrite64)(fd, from, n, at); }
int fdatasync(int fd) { FAULT(fd_fails("write", fd)) return REAL(fdatasync)(fd); }
int fsync(int fd) { FAULT(fd_fails("write", fd)) return REAL(fsync)(fd); }

int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **)) {
  FAULT(fails("list", path))
  return REAL(scandir)(path, names, filter, order);
}
int scandir64(const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
              int (*order)(const struct dirent64 **, const struct dirent64 **)) {
  FAULT(fails("list", path))
  return REAL(scandir64)(path, names, filter, order);
}
