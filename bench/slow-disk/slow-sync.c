/*
 * Put before the C library by LD_PRELOAD: a disk that takes $SLOW_SYNC_US microseconds longer for each flush. Each flush
 * adds a byte to the file that $SLOW_SYNC_COUNT names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void slow(void) {
  const char *count = getenv("SLOW_SYNC_COUNT"), *delay = getenv("SLOW_SYNC_US");
  if (count) {
    int file = open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
      if (write(file, ".", 1) < 0) abort();
      close(file);
    }
  }
  long us = delay ? atol(delay) : 0;
  struct timespec rest = {us / 1000000, us % 1000000 * 1000};
  if (us > 0) nanosleep(&rest, NULL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fdatasync(int fd) { slow(); return REAL(fdatasync)(fd); }
int fsync(int fd) { slow(); return REAL(fsync)(fd); }
