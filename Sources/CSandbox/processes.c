#include "CSandbox.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t csandbox_fork(void) { return fork(); }

int csandbox_place_descriptors(int socket, int has_error_output) {
  enum { job_socket = 3 };
  // 0 and 1 are /dev/null.
  if (!has_error_output && dup2(1, 2) < 0) return errno;
  if (socket != job_socket && dup2(socket, job_socket) < 0) return errno;
  return close_range(job_socket + 1, ~0u, 0) == 0 ? 0 : errno;
}

int csandbox_open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int csandbox_wait(pid_t child, int *status, double *cpu_seconds) {
  struct rusage usage;
  while (wait4(child, status, 0, &usage) < 0) {
    if (errno != EINTR) return errno;
  }
  *cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  return 0;
}
