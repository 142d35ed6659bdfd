#include "CSandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void csandbox_empty_bounding_set(void) {
  // Without CAP_SETPCAP the set stays; no_new_privs makes it useless.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) prctl(PR_CAPBSET_DROP, capability);
}

int csandbox_drop_capabilities(void) {
  csandbox_empty_bounding_set();
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return errno;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
  memset(none, 0, sizeof none);
  return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

int csandbox_deny_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

int csandbox_deny_dumps(void) { return prctl(PR_SET_DUMPABLE, 0) == 0 ? 0 : errno; }

int csandbox_landlock_version(void) {
  const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : (int)version;
}

int csandbox_enter_landlock(void) {
  // The structure and the rights of version 6; Debian's header follows its own kernel. Each version accepts what it
  // knows: the number of file rights, and the size of the structure.
  struct {
    uint64_t files, ports, scopes;
  } handled = {0, 0, 0};
  static const int file_rights[] = {13, 14, 15, 15, 16};
  const int version = csandbox_landlock_version();
  if (version == 0) return ENOSYS;
  handled.files = (1ull << file_rights[(version < 5 ? version : 5) - 1]) - 1;
  size_t size = sizeof handled.files;
  if (version >= 4) {
    handled.ports = 3;  // bind and connect
    size += sizeof handled.ports;
  }
  if (version >= 6) {
    handled.scopes = 3;  // abstract sockets and signals
    size += sizeof handled.scopes;
  }
  const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
  if (rules < 0) return errno;
  const int failure = syscall(SYS_landlock_restrict_self, rules, 0) == 0 ? 0 : errno;
  close(rules);
  return failure;
}

static int set_limit(int resource, uint64_t soft, uint64_t hard) {
  const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
  return setrlimit((__rlimit_resource_t)resource, &limit) == 0 ? 0 : errno;
}

int csandbox_set_limits(const struct csandbox_limits *limits) {
  const struct {
    int resource;
    uint64_t soft, hard;
  } all[] = {
      {RLIMIT_AS, limits->memory, limits->memory},
      {RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 2},
      {RLIMIT_FSIZE, limits->file_size, limits->file_size},
      {RLIMIT_NOFILE, limits->descriptors, limits->descriptors},
      {RLIMIT_CORE, 0, 0},
      {RLIMIT_MEMLOCK, 0, 0},
      {RLIMIT_MSGQUEUE, 0, 0},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const int failure = set_limit(all[i].resource, all[i].soft, all[i].hard);
    if (failure != 0) return failure;
  }
  return limits->processes == 0 ? 0 : set_limit(RLIMIT_NPROC, limits->processes, limits->processes);
}

int csandbox_die_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  // A parent that has ended already sends no signal.
  return getppid() == parent ? 0 : ESRCH;
}
