#pragma once

#include "embedded.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The version of take5, from Package.swift.
const char *csystem_version(void);

/// The properties of a child process. It inherits nothing else.
struct csystem_child {
  const char *path;
  char *const *arguments;    // NULL-terminated, with the program's name first
  char *const *environment;  // NULL-terminated
  const char *directory;     // NULL: the parent's
  const int *descriptors;    // descriptors[i] becomes descriptor i of the child; -1 for /dev/null
  int descriptor_count;
  int switches_user;  // nonzero: become user and group (and no other group) before exec
  uid_t user;
  gid_t group;
  int parent_death_signal;  // 0: the child outlives the thread that spawned it
  int no_new_privileges;    // nonzero: exec cannot grant privileges (prctl(2), PR_SET_NO_NEW_PRIVS)
  int new_session;          // nonzero: setsid(2), so that Ctrl-C in the terminal does not reach the child
  int nice;                 // the nice value that it starts with; 20: it runs only when no other process needs the processor
};

/// Starts a child and returns its process id. On failure, of exec too, returns -1 and sets `*error` to the errno.
///
/// The parent death signal is sent when the calling *thread* ends (prctl(2)): call this from a permanent thread.
pid_t csystem_spawn(const struct csystem_child *child, int *error);

/// As the first process of a container's PID namespace, starts the program once more as a child and never returns: it passes
/// signals on to the child, reaps the orphans of the namespace, and ends with the child. Otherwise it does nothing. Call this before
/// there is another thread.
///
/// - arguments: the program's arguments, with its name first, NULL-terminated.
void csystem_leave_process_one(char *const *arguments);

/// Kills the process of a descriptor (pidfd_send_signal(2)); ignores errors.
void csystem_kill_process(int descriptor);

/// Sends one message with descriptors over a SOCK_SEQPACKET socket. Returns 0, or -1 with errno.
int csystem_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Receives one message. Returns its length, 0 at the end, or -1 with errno (EMSGSIZE if it does not fit).
/// `*descriptor_count` is the capacity on entry and the number received on return.
ssize_t csystem_receive(int socket, void *bytes, size_t room, int *descriptors, int *descriptor_count);

/// Creates a connected pair of SOCK_SEQPACKET sockets, both close-on-exec. Returns 0, or -1 with errno.
int csystem_socket_pair(int pair[2]);

/// Sends a datagram to a Unix socket at a path; `@` in place of its first byte means an abstract address (unix(7)). Returns 0,
/// or -1 with errno.
int csystem_send_datagram(const char *path, const void *bytes, size_t count);

/// Sets the name of the calling thread, at most 15 bytes (pthread_setname_np(3), which needs _GNU_SOURCE).
void csystem_name_thread(const char *name);

/// Adds an increment to the nice value of the calling thread; ignores errors.
void csystem_nice_thread(int increment);

/// Opens an unnamed file (O_TMPFILE) in a directory, readable, writable and close-on-exec. Returns -1 with errno on
/// failure.
int csystem_open_unnamed(const char *folder);

/// Links an unnamed file to a path. Returns 0, or -1 with errno (EEXIST if the path exists).
int csystem_link_unnamed(int descriptor, const char *path);

/// The size of an open file (fstat(2)). Returns -1 with errno on failure.
int64_t csystem_size(int descriptor);

/// Exchanges two files or folders in one step (renameat2(2), RENAME_EXCHANGE). Returns 0, or -1 with errno.
int csystem_exchange(const char *path, const char *other);

/// Reserves space for the first bytes of a file, whose size does not change (fallocate(2)). Returns 0, or -1 with errno.
int csystem_reserve(int descriptor, int64_t length);

/// Whether an extended attribute of a file is this character (getxattr(2)).
int csystem_has_attribute(const char *path, const char *name, char value);

/// Disables core dumps and tracing of this process, whose memory holds private media. Returns 0, or -1 with errno.
int csystem_deny_dumps(void);

/// Whether this process ignores a signal (sigaction(2)).
int csystem_is_ignored(int signal);

/// Sets how many arenas malloc(3) takes memory from, and lets it give back each free buffer of a MiB or more. Call this before there is
/// another thread.
void csystem_limit_heap(int arenas);

/// Raises the soft limit of open files to the hard limit; ignores errors.
void csystem_raise_open_files_limit(void);

/// The number of processors that the affinity of this process permits.
int csystem_processors(void);

/// The maximum number of open files of this process; 0 if unknown.
uint64_t csystem_open_files_limit(void);

/// Creates an eventfd(2), non-blocking and close-on-exec; Swift does not import its flags. Returns -1 with errno on
/// failure.
int csystem_event(void);

// The events to wait for, and the events found.
enum {
  CSYSTEM_READABLE = 1,
  CSYSTEM_WRITABLE = 2,
  CSYSTEM_FINISHED = 4,  // the peer has finished sending
  CSYSTEM_BROKEN = 8,    // the connection is closed in both directions; always reported
};

struct csystem_ready {
  uint64_t key;
  unsigned int state;
};

/// Creates an epoll(7) instance, close-on-exec. Returns -1 with errno on failure.
int csystem_poll_open(void);

/// Adds a descriptor, or changes the events to wait for. Returns 0, or -1 with errno.
int csystem_poll_set(int poll, int descriptor, uint64_t key, unsigned int interest, int is_new);

/// Removes a descriptor.
void csystem_poll_remove(int poll, int descriptor);

/// Waits until descriptors are ready or the timeout passes; -1 milliseconds means no timeout. Returns the number of
/// ready descriptors, or -1 with errno.
int csystem_poll_wait(int poll, struct csystem_ready *ready, int room, int milliseconds);

/// The bytes that the system takes of a response before the client has room for them.
#define CSYSTEM_UNSENT (128 << 10)

/// Accepts a connection as a non-blocking socket, which takes CSYSTEM_UNSENT bytes ahead, and returns the peer's address, IPv4 as an
/// IPv4-mapped IPv6 address.
/// Returns -1 with errno on failure.
int csystem_accept(int listener, uint8_t address[16]);

/// The bytes that the client has not acknowledged.
int csystem_unread(int socket);

/// Has the system forget what the client has not acknowledged, if there is anything, when the socket is closed.
void csystem_reset_unread(int socket);

/// Bounds the bytes that the system receives for a socket ahead of the process (socket(7), SO_RCVBUF); 0: the system decides again
/// (SO_BUF_LOCK). Does nothing before Linux 5.14, where a bound cannot be taken back.
void csystem_bound_receiving(int socket, int bytes);

/// Sends bytes of a file (sendfile(2)). Returns the number of bytes sent, or -1 with errno.
ssize_t csystem_send_file(int socket, int file, int64_t offset, size_t count);
