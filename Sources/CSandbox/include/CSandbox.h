#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The walls around a media process. Each function returns 0 or an errno, unless it says otherwise, and leaves the
// process usable if it fails.

/// The kinds of namespaces (namespaces(7)).
enum csandbox_namespace {
  CSANDBOX_USER,
  CSANDBOX_MOUNTS,
  CSANDBOX_NETWORK,
  CSANDBOX_PROCESSES,  // of the children that are forked afterwards
  CSANDBOX_IPC,
  CSANDBOX_HOSTNAME,
};

/// Moves this process, which has one thread, into a new namespace (unshare(2)).
int csandbox_unshare(enum csandbox_namespace kind);

/// Maps one unprivileged user and group of the new user namespace to those that this process had outside
/// (user_namespaces(7)).
int csandbox_map_user(uid_t user, gid_t group);

/// Starts the init of the new PID namespace: a process that only waits. The namespace ends with it (pid_namespaces(7)).
int csandbox_start_init(void);

/// Makes an empty read-only file system the root and the current directory of this process, in its mount namespace.
int csandbox_empty_root(void);

/// Changes the user and the group of this process, which is root, and removes its other groups.
int csandbox_set_user(uid_t user, gid_t group);

/// Empties the bounding set of capabilities, as far as this process may.
void csandbox_empty_bounding_set(void);

/// Removes all capabilities, also from the bounding set (capabilities(7)).
int csandbox_drop_capabilities(void);

/// Prevents that execve(2) grants privileges.
int csandbox_deny_new_privileges(void);

/// Prevents core dumps, and tracing by processes of the same user.
int csandbox_deny_dumps(void);

/// The version of Landlock in the kernel; 0 if it has none (landlock(7)).
int csandbox_landlock_version(void);

/// Enters a Landlock domain without any right to files, and to TCP ports, abstract sockets and signals where the kernel's
/// version has rules for them.
int csandbox_enter_landlock(void);

/// The limits of a child, which it cannot raise.
struct csandbox_limits {
  uint64_t memory;       // address space, in bytes
  uint64_t cpu_seconds;  // of all threads; SIGXCPU, and SIGKILL two seconds later
  uint64_t file_size;    // in bytes
  uint64_t processes;    // of the user in its user namespace, threads included; 0: not limited
  uint64_t descriptors;
};

/// Sets the limits of this process, and forbids core dumps, locked memory and message queues.
int csandbox_set_limits(const struct csandbox_limits *limits);

/// A filter of system calls in the language of bpf(4).
struct csandbox_filter {
  void *instructions;
  unsigned short count;
};

/// Makes the filter of a child that computes, reads and writes its descriptors, and starts threads. Any other call ends
/// the process with SIGSYS.
int csandbox_make_filter(struct csandbox_filter *filter);

/// Applies a filter to this process (seccomp(2)), the only one that it may abort.
int csandbox_apply_filter(const struct csandbox_filter *filter);

/// Forks this process, which has one thread. Returns as fork(2).
pid_t csandbox_fork(void);

/// Kills this process when its parent ends. `parent` is the parent's id as this process sees it; 0 in another PID
/// namespace. Returns ESRCH if the parent has ended already.
int csandbox_die_with_parent(pid_t parent);

/// Gives this process the descriptors 0 and 1, the socket as 3, and either the parent's standard error or none as 2;
/// closes all others.
int csandbox_place_descriptors(int socket, int has_error_output);

/// Opens a descriptor of a process (pidfd_open(2)). Returns it, or -1 with errno.
int csandbox_open_process(pid_t process);

/// Waits for the end of a child and reaps it. Sets its wait status and CPU time in seconds.
int csandbox_wait(pid_t child, int *status, double *cpu_seconds);
