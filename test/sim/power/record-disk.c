/*
 * Put before the C library by LD_PRELOAD: writes down what happens to the files below $RECORD_BELOW, in its order, into the
 * file that $RECORD_TO names. An entry is a head of six numbers of 64 bits, then two paths, then the bytes that were
 * written. What a failed call did is not written down. Files that are mapped into memory are not followed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN = 1, WRITE, RESIZE, SYNC_BEGINS, SYNC, DATA_SYNC, RENAME, REMOVE, FOLDER, CHANGE };

#define FDS 65536
static char followed[FDS];
static int record = -1;
static const char *below;
static size_t below_length;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char *to = getenv("RECORD_TO");
  below = getenv("RECORD_BELOW");
  if (!to || !below) return;
  below_length = strlen(below);
  record = syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  return record >= 0 && path && strncmp(path, below, below_length) == 0 && path[below_length] == '/';
}

static int follows(int fd) { return fd >= 0 && fd < FDS && followed[fd]; }

/* A system call itself: the function is the one below. */
static void note(enum kind kind, int64_t a, int64_t b, const char *one, const char *two, const void *data, size_t n) {
  int before = errno;
  int64_t head[6] = { kind, a, b, one ? strlen(one) : 0, two ? strlen(two) : 0, n };
  struct iovec parts[4] = {
    { head, sizeof head }, { (void *)one, head[3] }, { (void *)two, head[4] }, { (void *)data, n },
  };
  if (syscall(SYS_writev, record, parts, 4) < 0) abort();
  errno = before;
}

#define LOCKED(work) pthread_mutex_lock(&one_at_a_time); work; pthread_mutex_unlock(&one_at_a_time);

static int opened(int fd, const char *path, int flags, int was_there) {
  if (fd < 0 || fd >= FDS) return fd;
  followed[fd] = is_below(path);
  /* 1: it is new. 2: it was there, and is emptied. */
  int how = was_there ? (flags & O_TRUNC ? 2 : 0) : 1;
  if (followed[fd]) note(OPEN, fd, how, path, 0, 0, 0);
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

#define OPENS(call) \
  int fd; \
  LOCKED({ \
    int was_there = !is_below(path) || syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0; \
    fd = opened(call, path, flags, was_there); \
  }) \
  return fd;

int open(const char *path, int flags, ...) { MODE(flags) OPENS(REAL(open)(path, flags, mode)) }
int open64(const char *path, int flags, ...) { MODE(flags) OPENS(REAL(open64)(path, flags, mode)) }
int openat(int at, const char *path, int flags, ...) { MODE(flags) OPENS(REAL(openat)(at, path, flags, mode)) }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) OPENS(REAL(openat64)(at, path, flags, mode)) }

int close(int fd) {
  if (fd >= 0 && fd < FDS) followed[fd] = 0;
  return REAL(close)(fd);
}

#define WRITES(call, at, from) \
  if (!follows(fd)) return call; \
  ssize_t done; \
  LOCKED({ \
    done = call; \
    if (done > 0) note(WRITE, fd, at, 0, 0, from, done); \
  }) \
  return done;

/* Where a write without a position has ended. */
#define HERE (lseek(fd, 0, SEEK_CUR) - done)

static const void *joined(const struct iovec *parts, int n) {
  size_t all = 0;
  for (int i = 0; i < n; i++) all += parts[i].iov_len;
  static char *bytes = 0;
  char *to = bytes = realloc(bytes, all + 1);
  for (int i = 0; i < n; i++) to = mempcpy(to, parts[i].iov_base, parts[i].iov_len);
  return bytes;
}

ssize_t write(int fd, const void *from, size_t n) { WRITES(REAL(write)(fd, from, n), HERE, from) }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) { WRITES(REAL(pwrite)(fd, from, n, at), at, from) }
ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at) { WRITES(REAL(pwrite64)(fd, from, n, at), at, from) }
ssize_t writev(int fd, const struct iovec *from, int n) { WRITES(REAL(writev)(fd, from, n), HERE, joined(from, n)) }
ssize_t pwritev(int fd, const struct iovec *from, int n, off_t at) { WRITES(REAL(pwritev)(fd, from, n, at), at, joined(from, n)) }
ssize_t pwritev64(int fd, const struct iovec *from, int n, off64_t at) { WRITES(REAL(pwritev64)(fd, from, n, at), at, joined(from, n)) }

#define DOES(call, condition, entry) \
  if (!(condition)) return call; \
  int done; \
  LOCKED({ \
    done = call; \
    if (done == 0) entry; \
  }) \
  return done;

int ftruncate(int fd, off_t size) { DOES(REAL(ftruncate)(fd, size), follows(fd), note(RESIZE, fd, size, 0, 0, 0, 0)) }
int ftruncate64(int fd, off64_t size) { DOES(REAL(ftruncate64)(fd, size), follows(fd), note(RESIZE, fd, size, 0, 0, 0, 0)) }
int fchmod(int fd, mode_t mode) { DOES(REAL(fchmod)(fd, mode), follows(fd), note(CHANGE, fd, 0, 0, 0, 0, 0)) }
int chmod(const char *path, mode_t mode) { DOES(REAL(chmod)(path, mode), is_below(path), note(CHANGE, -1, 0, path, 0, 0, 0)) }
int rename(const char *from, const char *to) { DOES(REAL(rename)(from, to), is_below(from), note(RENAME, 0, 0, from, to, 0, 0)) }
int unlink(const char *path) { DOES(REAL(unlink)(path), is_below(path), note(REMOVE, 0, 0, path, 0, 0, 0)) }
/* As the C++ library has it, and so rmSync. */
int remove(const char *path) { DOES(REAL(remove)(path), is_below(path), note(REMOVE, 0, 0, path, 0, 0, 0)) }
int mkdir(const char *path, mode_t mode) { DOES(REAL(mkdir)(path, mode), is_below(path), note(FOLDER, 0, 0, path, 0, 0, 0)) }

/* A sync covers what was written before it began. */
#define SYNCS(call, kind) \
  if (!follows(fd)) return call; \
  LOCKED(note(SYNC_BEGINS, fd, 0, 0, 0, 0, 0)) \
  DOES(call, 1, note(kind, fd, 0, 0, 0, 0, 0))

int fsync(int fd) { SYNCS(REAL(fsync)(fd), SYNC) }
int fdatasync(int fd) { SYNCS(REAL(fdatasync)(fd), DATA_SYNC) }
