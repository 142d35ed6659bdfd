#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The system calls of decoding and encoding on descriptors that are open, of memory, threads and time. None of them
// takes a path, an address or another process.
static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(close),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),

    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),

    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),

    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    // qsort(3) of glibc 2.36 asks how much memory the machine has before it sorts more than 1 KiB: libwebp sorts colours.
    SCMP_SYS(sysinfo),
};

// The flags of a thread (glibc, pthread_create): nothing else may be created by clone(2).
enum {
  thread_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
  job_socket = 3,
  // Stands for the id of the child in the filter, which the server compiles: no process has it, and no other rule.
  own_process = 0x7e57c41d,
};

static int add_rules(scmp_filter_ctx filter) {
  const uint32_t allow = SCMP_ACT_ALLOW;
  int failure = 0;
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed && failure == 0; i++)
    failure = seccomp_rule_add(filter, allow, allowed[i], 0);
#define RULE(...) \
  if (failure == 0) failure = seccomp_rule_add(filter, __VA_ARGS__)
  // No memory becomes executable.
  RULE(allow, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  RULE(allow, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  RULE(allow, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_EQ, thread_flags));
  // The flags of clone3(2) are in memory, which a filter cannot read. glibc then calls clone(2).
  RULE(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  RULE(allow, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
  // A thread lowers its own priority, as thread 0; a process without capabilities cannot raise any.
  RULE(allow, SCMP_SYS(getpriority), 2, SCMP_A0(SCMP_CMP_EQ, PRIO_PROCESS), SCMP_A1(SCMP_CMP_EQ, 0));
  RULE(allow, SCMP_SYS(setpriority), 2, SCMP_A0(SCMP_CMP_EQ, PRIO_PROCESS), SCMP_A1(SCMP_CMP_EQ, 0));
  // fstat(3) of glibc 2.33 to 2.38, in stdio, which then goes on without the size of a block. The path is in memory, which a filter
  // cannot read.
  RULE(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(newfstatat), 0);
  RULE(allow, SCMP_SYS(sendmsg), 1, SCMP_A0(SCMP_CMP_EQ, job_socket));
  RULE(allow, SCMP_SYS(recvmsg), 1, SCMP_A0(SCMP_CMP_EQ, job_socket));
  // abort(3).
  RULE(allow, SCMP_SYS(tgkill), 2, SCMP_A0(SCMP_CMP_EQ, own_process), SCMP_A2(SCMP_CMP_EQ, SIGABRT));
#undef RULE
  return -failure;
}

// libseccomp writes the filter's instructions to a file.
static int read_back(int file, struct csandbox_filter *filter) {
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return EIO;
  filter->instructions = malloc((size_t)size);
  if (!filter->instructions) return ENOMEM;
  if (pread(file, filter->instructions, (size_t)size, 0) != size) return EIO;
  filter->count = (unsigned short)((size_t)size / sizeof(struct sock_filter));
  return 0;
}

int csandbox_make_filter(struct csandbox_filter *filter) {
  scmp_filter_ctx rules = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (!rules) return ENOMEM;
  int failure = -seccomp_attr_set(rules, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  // A binary tree instead of a list.
  if (failure == 0) failure = -seccomp_attr_set(rules, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (failure == 0) failure = add_rules(rules);
  if (failure == 0) {
    const int file = memfd_create("filter", MFD_CLOEXEC);
    failure = file < 0 ? errno : -seccomp_export_bpf(rules, file);
    if (failure == 0) failure = read_back(file, filter);
    if (file >= 0) close(file);
  }
  seccomp_release(rules);
  return failure;
}

int csandbox_apply_filter(const struct csandbox_filter *filter) {
  // A fork has a copy of its own.
  for (unsigned short i = 0; i < filter->count; i++) {
    struct sock_filter *instruction = (struct sock_filter *)filter->instructions + i;
    if (BPF_CLASS(instruction->code) == BPF_JMP && instruction->k == own_process) instruction->k = (uint32_t)getpid();
  }
  const struct sock_fprog program = {.len = filter->count, .filter = filter->instructions};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}
