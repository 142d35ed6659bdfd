#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CSystem.h"

void csystem_limit_heap(int arenas) {
  mallopt(M_ARENA_MAX, arenas);
  // By default both limits rise with each large buffer that is freed, up to 32 and 64 MiB.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// Passes the signals of this process on to a child, and reaps whatever ends, until the child ends; returns its exit status.
static int serve_as_init(pid_t child, const sigset_t *all) {
  // Ends: when the child does.
  for (;;) {
    siginfo_t received;
    if (sigwaitinfo(all, &received) < 0) continue;
    if (received.si_signo != SIGCHLD) {
      kill(child, received.si_signo);
      continue;
    }
    int ended = 0, result = 0, status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != child) continue;
      ended = 1;
      result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (ended) return result;
  }
}

void csystem_leave_process_one(char *const *arguments) {
  if (getpid() != 1) return;
  sigset_t all, former;
  sigfillset(&all);
  if (sigprocmask(SIG_BLOCK, &all, &former) != 0) return;
  // Where it is ignored, the kernel reaps children and sends no signal.
  signal(SIGCHLD, SIG_DFL);
  pid_t child = fork();
  if (child < 0) {
    sigprocmask(SIG_SETMASK, &former, NULL);
    return;
  }
  if (child > 0) {
    // The environment, which has secrets, is not for the other processes of the user.
    prctl(PR_SET_DUMPABLE, 0);
    exit(serve_as_init(child, &all));
  }
  // Of the keys of a terminal it alone gets the signals.
  if (setpgid(0, 0) == 0 && isatty(0)) tcsetpgrp(0, getpid());
  sigprocmask(SIG_SETMASK, &former, NULL);
  execv("/proc/self/exe", arguments);
  // The program goes on without a fresh start: it has only this thread.
}
