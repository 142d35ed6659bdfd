#include "CSystem.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

int csystem_open_unnamed(const char *folder) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0640); }

int csystem_link_unnamed(int descriptor, const char *path) {
  char source[64];
  snprintf(source, sizeof source, "/proc/self/fd/%d", descriptor);
  return linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int64_t csystem_size(int descriptor) {
  // fstat(3) of glibc 2.33 to 2.38 makes the call newfstatat, which takes a path: a media process may not make it.
  struct stat status;
  return syscall(SYS_fstat, descriptor, &status) == 0 ? status.st_size : -1;
}

int csystem_exchange(const char *path, const char *other) {
  return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}

int csystem_reserve(int descriptor, int64_t length) { return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, length); }

void csystem_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

void csystem_nice_thread(int increment) {
  // On Linux each thread has its own nice value, and 0 is the calling thread.
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + increment);
}

int csystem_deny_dumps(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0);
}

int csystem_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void csystem_raise_open_files_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t csystem_open_files_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

int csystem_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int csystem_has_attribute(const char *path, const char *name, char value) {
  char found;
  return getxattr(path, name, &found, 1) == 1 && found == value;
}

int csystem_processors(void) {
  cpu_set_t set;
  // A machine with more processors than the set has room for is an error, for which all count.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return (int)sysconf(_SC_NPROCESSORS_ONLN);
  return CPU_COUNT(&set);
}
