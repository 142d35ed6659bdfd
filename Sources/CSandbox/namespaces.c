#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int csandbox_unshare(enum csandbox_namespace kind) {
  static const int flags[] = {
      [CSANDBOX_USER] = CLONE_NEWUSER,     [CSANDBOX_MOUNTS] = CLONE_NEWNS, [CSANDBOX_NETWORK] = CLONE_NEWNET,
      [CSANDBOX_PROCESSES] = CLONE_NEWPID, [CSANDBOX_IPC] = CLONE_NEWIPC,   [CSANDBOX_HOSTNAME] = CLONE_NEWUTS,
  };
  return unshare(flags[kind]) == 0 ? 0 : errno;
}

static int write_file(const char *path, const char *text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int failure = write(file, text, strlen(text)) < 0 ? errno : 0;
  close(file);
  return failure;
}

int csandbox_map_user(uid_t user, gid_t group) {
  // An ordinary user: root of the namespace would get all of its capabilities back by execve(2).
  enum { inside = 65534 };
  char map[64];
  int failure = write_file("/proc/self/setgroups", "deny");
  if (failure == 0) {
    snprintf(map, sizeof map, "%d %u 1", inside, user);
    failure = write_file("/proc/self/uid_map", map);
  }
  if (failure == 0) {
    snprintf(map, sizeof map, "%d %u 1", inside, group);
    failure = write_file("/proc/self/gid_map", map);
  }
  return failure;
}

// In the namespace getppid(2) is 0 whether the parent runs or not.
static int has_ended(int process) {
  struct pollfd poll_process = {.fd = process, .events = POLLIN};
  return poll(&poll_process, 1, 0) != 0;
}

int csandbox_start_init(void) {
  const int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (parent < 0) return errno;
  const pid_t init = fork();
  if (init != 0) {
    const int failure = init < 0 ? errno : 0;
    close(parent);
    return failure;
  }
  prctl(PR_SET_NAME, "take5-init");
  csandbox_drop_capabilities();
  csandbox_deny_dumps();
  // A parent that was killed before sends no signal.
  if (csandbox_die_with_parent(0) != 0 || has_ended(parent)) _exit(0);
  close_range(0, ~0u, 0);
  for (;;) pause();
}

int csandbox_empty_root(void) {
  // A mount propagates neither in nor out. The folder is any that exists: the new root covers it.
  static const char folder[] = "/proc";
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return errno;
  if (mount("take5", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,nr_inodes=1,mode=555") != 0)
    return errno;
  if (chdir(folder) != 0) return errno;
  // pivot_root(2), "pivot_root(".", ".")": the old root is mounted over the new one, and removed.
  if (syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (umount2(".", MNT_DETACH) != 0) return errno;
  if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
    return errno;
  return chdir("/") == 0 ? 0 : errno;
}

int csandbox_set_user(uid_t user, gid_t group) {
  // Afterwards the process may not change the bounding set any more.
  csandbox_empty_bounding_set();
  if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return errno;
  return 0;
}
