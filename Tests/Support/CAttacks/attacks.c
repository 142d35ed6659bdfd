#include "CAttacks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const long none = 0;
static struct stat status;

long cattacks_make(const char *name) {
  const struct {
    const char *name;
    long number, a, b, c, d;
  } calls[] = {
      {"openat", SYS_openat, AT_FDCWD, (long)"/etc/passwd", O_RDONLY, 0},
      {"environ", SYS_openat, AT_FDCWD, (long)"/proc/1/environ", O_RDONLY, 0},
      {"socket", SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0},
      {"connect", SYS_connect, 0, (long)&none, sizeof none, 0},
      {"execve", SYS_execve, (long)"/bin/sh", 0, 0, 0},
      {"fork", SYS_clone, SIGCHLD, 0, 0, 0},
      {"vfork", SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0},
      {"ptrace", SYS_ptrace, PTRACE_TRACEME, 0, 0, 0},
      {"kill", SYS_kill, 1, SIGKILL, 0, 0},
      {"kill-all", SYS_kill, -1, SIGKILL, 0, 0},
      {"tgkill", SYS_tgkill, 1, 1, SIGKILL, 0},
      {"pidfd", SYS_pidfd_open, 1, 0, 0, 0},
      {"prctl", SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0},
      {"mmap", SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS},
      {"mprotect", SYS_mprotect, (long)&none & ~4095, 4096, PROT_READ | PROT_EXEC, 0},
      {"unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, 0},
      {"mount", SYS_mount, (long)"none", (long)"/", (long)"tmpfs", 0},
      {"ioctl", SYS_ioctl, 0, 0x5412, (long)&none, 0},
      {"process_vm_readv", SYS_process_vm_readv, 1, 0, 0, 0},
      {"memfd_create", SYS_memfd_create, (long)"x", 0, 0, 0},
      {"bpf", SYS_bpf, 0, 0, 0, 0},
      {"keyctl", SYS_keyctl, 0, 0, 0, 0},
      {"io_uring_setup", SYS_io_uring_setup, 1, (long)&none, 0, 0},
      {"perf_event_open", SYS_perf_event_open, 0, 0, -1, -1},
      {"setuid", SYS_setuid, 0, 0, 0, 0},
      {"setrlimit", SYS_prlimit64, 0, 9, 0, 0},
      {"tgkill-other", SYS_tgkill, 1, 1, SIGABRT, 0},
      {"setpriority-other", SYS_setpriority, PRIO_PROCESS, 1, 19, 0},
      {"getpriority-other", SYS_getpriority, PRIO_PROCESS, 1, 0, 0},
      {"newfstatat", SYS_newfstatat, AT_FDCWD, (long)"/", (long)&status, AT_EMPTY_PATH},
      // glibc must be able to fall back to clone(2).
      {"clone3", SYS_clone3, 0, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (strcmp(calls[i].name, name) != 0) continue;
    const long result = syscall(calls[i].number, calls[i].a, calls[i].b, calls[i].c, calls[i].d, -1, 0);
    return result < 0 ? -errno : result;
  }
  return -1000;
}

void cattacks_send_nothing(int socket) {
  struct msghdr message;
  memset(&message, 0, sizeof message);
  sendmsg(socket, &message, 0);
}
