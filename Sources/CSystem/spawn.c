#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Everything between fork and exec is async-signal-safe, and writes nothing but its stack: the parent has threads, and after vfork its memory.

// Duplicates descriptors[i] to i. All are first moved above the targets, so that no source is overwritten.
static int place_descriptors(const int *descriptors, int count) {
  int moved[64];
  if (count > 64) {
    errno = EINVAL;
    return -1;
  }
  for (int i = 0; i < count; i++) {
    int source = descriptors[i];
    if (source < 0) {
      source = open("/dev/null", O_RDWR | O_CLOEXEC);
      if (source < 0) return -1;
    }
    moved[i] = fcntl(source, F_DUPFD_CLOEXEC, count);
    if (moved[i] < 0) return -1;
  }
  for (int i = 0; i < count; i++) {
    if (dup2(moved[i], i) < 0) return -1;
  }
  return 0;
}

static void run_child(const struct csystem_child *child, pid_t parent, int report) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);

  // The pipe for errors moves above all descriptors that place_descriptors overwrites.
  int error_pipe = fcntl(report, F_DUPFD_CLOEXEC, child->descriptor_count + 64);
  if (error_pipe < 0) _exit(127);

  if (child->new_session && setsid() < 0) goto failed;
  if (child->directory && chdir(child->directory) != 0) goto failed;
  if (child->switches_user) {
    if (setgroups(0, NULL) != 0 || setgid(child->group) != 0 || setuid(child->user) != 0) goto failed;
  }
  if (child->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) goto failed;
  if (child->parent_death_signal) {
    // After setuid, because the kernel clears the signal when credentials change. A parent that has already died sends
    // no signal.
    if (prctl(PR_SET_PDEATHSIG, child->parent_death_signal) != 0) goto failed;
    if (getppid() != parent) _exit(127);
  }
  if (place_descriptors(child->descriptors, child->descriptor_count) != 0) goto failed;
  if (close_range((unsigned)child->descriptor_count, ~0u, CLOSE_RANGE_CLOEXEC) != 0) goto failed;
  if (child->nice == 20) {
    // sched(7): SCHED_IDLE needs no privileges. The nice value is for kernels without it.
    struct sched_param lowest = {.sched_priority = 0};
    if (sched_setscheduler(0, SCHED_IDLE, &lowest) != 0 && setpriority(PRIO_PROCESS, 0, 19) != 0) goto failed;
  } else if (child->nice > 0 && setpriority(PRIO_PROCESS, 0, child->nice) != 0) {
    goto failed;
  }
  execve(child->path, child->arguments, child->environment);

failed: {
  int failure = errno;
  ssize_t ignored = write(error_pipe, &failure, sizeof failure);
  (void)ignored;
  _exit(127);
}
}

pid_t csystem_spawn(const struct csystem_child *child, int *error) {
  int report[2];
  *error = 0;
  if (pipe2(report, O_CLOEXEC) != 0) {
    *error = errno;
    return -1;
  }
  // A signal handler of the parent must not run in the child, so all signals are blocked across the fork.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pid_t parent = getpid();
  // vfork copies no page tables, which takes 20 ms of a process with gigabytes. A child that becomes another user is forked: setuid of
  // the C library concerns all threads that the memory has.
  pid_t process = child->switches_user ? fork() : vfork();
  if (process == 0) run_child(child, parent, report[1]);
  int failure = errno;
  pthread_sigmask(SIG_SETMASK, &previous, NULL);
  close(report[1]);
  if (process < 0) {
    close(report[0]);
    *error = failure;
    return -1;
  }
  ssize_t count;
  do {
    count = read(report[0], &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  close(report[0]);
  if (count == sizeof failure) {
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {
    }
    *error = failure;
    return -1;
  }
  return process;
}

void csystem_kill_process(int descriptor) { syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0); }
