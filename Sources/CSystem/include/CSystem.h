#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What a child process gets. Nothing is inherited that is not named here.
struct csystem_child {
  const char *path;
  char *const *arguments;    // NULL-terminated, the program's name first
  char *const *environment;  // NULL-terminated
  const char *directory;     // NULL: the parent's
  const int *descriptors;    // descriptors[i] becomes descriptor i of the child; -1: /dev/null
  int descriptor_count;
  int switches_user;  // nonzero: become user and group (and no other group) before exec
  uid_t user;
  gid_t group;
  int parent_death_signal;          // 0: the child survives the thread that spawned it
  uint64_t address_space_limit;     // bytes, 0: the parent's
  uint64_t cpu_seconds_limit;       // 0: the parent's
  uint64_t file_size_limit;         // bytes, 0: the parent's
  uint64_t open_files_limit;        // 0: the parent's
  int no_new_privileges;            // nonzero: exec can never gain rights
  int new_session;                  // nonzero: a session of its own, out of reach of the terminal's Ctrl-C
  int idle;                         // nonzero: runs only when nobody else wants the processor
};

/// Starts a child and returns its process id, or -1 with the errno of what failed, exec included, in `*error`.
///
/// A parent death signal fires when the *thread* that called this ends (prctl(2)): call it from a permanent one.
pid_t csystem_spawn(const struct csystem_child *child, int *error);

/// Sends one message with descriptors over a SOCK_SEQPACKET socket; 0, or -1 with errno.
int csystem_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Receives one message; its length (0 at the end), or -1 with errno (EMSGSIZE if it did not fit).
/// `*descriptor_count` is the room on entry and the number received on return.
ssize_t csystem_receive(int socket, void *bytes, size_t room, int *descriptors, int *descriptor_count);

/// Makes a connected pair of SOCK_SEQPACKET sockets, both closed on exec; 0, or -1 with errno.
int csystem_socket_pair(int pair[2]);

/// Names the calling thread, at most 15 bytes: pthread_setname_np is hidden behind _GNU_SOURCE.
void csystem_name_thread(const char *name);

/// Makes the calling thread nicer by an increment; where that is not allowed, nothing changes.
void csystem_nice_thread(int increment);

/// Opens a file without a name in a folder, readable and writable, closed on exec; -1 with errno.
int csystem_open_unnamed(const char *folder);

/// Gives a file without a name a name; 0, or -1 with errno (EEXIST if it is taken).
int csystem_link_unnamed(int descriptor, const char *path);

/// Forbids core dumps and tracing of this process: media are somebody's private life. 0, or -1 with errno.
int csystem_deny_dumps(void);

/// Raises the limit of open files as far as this process may, which leaves it as it is where that fails.
void csystem_raise_open_files_limit(void);

/// How many files this process may have open at a time; 0 if that is unknown.
uint64_t csystem_open_files_limit(void);

/// Makes an event that threads wait for with poll, closed on exec (eventfd(2), whose flags Swift does not import); -1 with errno.
int csystem_event(void);

// What a descriptor is watched for, and what it is found to be.
enum {
  CSYSTEM_READABLE = 1,
  CSYSTEM_WRITABLE = 2,
  CSYSTEM_FINISHED = 4,  // the peer has finished sending
  CSYSTEM_BROKEN = 8,    // the connection is over in both directions; found whatever is watched for
};

struct csystem_ready {
  uint64_t key;
  unsigned int state;
};

/// Makes an instance of epoll(7), closed on exec; -1 with errno.
int csystem_poll_open(void);

/// Begins to watch a descriptor, or watches it for something else; 0, or -1 with errno.
int csystem_poll_set(int poll, int descriptor, uint64_t key, unsigned int interest, int is_new);

/// Watches a descriptor no longer.
void csystem_poll_remove(int poll, int descriptor);

/// Waits until descriptors are ready, -1 milliseconds for ever, and returns how many are; -1 with errno.
int csystem_poll_wait(int poll, struct csystem_ready *ready, int room, int milliseconds);

/// Accepts a connection, which does not block, with its peer's address as IPv6 has it; -1 with errno.
int csystem_accept(int listener, uint8_t address[16]);

/// Sends bytes of a file without copying them through this process (sendfile(2)); -1 with errno.
ssize_t csystem_send_file(int socket, int file, int64_t offset, size_t count);
