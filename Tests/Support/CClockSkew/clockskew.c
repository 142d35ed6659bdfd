#define _GNU_SOURCE
#include "clockskew.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The number in the file, which a test changes while the process runs; null without a file.
static const long *stepped(void) {
  static const long *number;
  static int is_known;
  if (__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) return number;
  const char *path = getenv(CLOCKSKEW_FILE_VARIABLE);
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *mapped = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) number = mapped;
    close(file);
  }
  __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
  return number;
}

static long skew(void) {
  const long *number = stepped();
  if (number) return __atomic_load_n(number, __ATOMIC_RELAXED);
  const char *text = getenv(CLOCKSKEW_VARIABLE);
  return text ? atol(text) : 0;
}

// Only the wall clock is skewed, because only it can be set wrong; monotonic clocks are not.
int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = next(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += skew();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
