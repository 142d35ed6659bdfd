#include "CSystem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

int csystem_poll_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

int csystem_poll_set(int poll, int descriptor, uint64_t key, unsigned int interest, int is_new) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.data.u64 = key;
  if (interest & CSYSTEM_READABLE) event.events |= EPOLLIN;
  if (interest & CSYSTEM_WRITABLE) event.events |= EPOLLOUT;
  if (interest & CSYSTEM_FINISHED) event.events |= EPOLLRDHUP;
  return epoll_ctl(poll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

void csystem_poll_remove(int poll, int descriptor) { epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, NULL); }

int csystem_poll_wait(int poll, struct csystem_ready *ready, int room, int milliseconds) {
  enum { MAX_EVENTS = 256 };
  struct epoll_event events[MAX_EVENTS];
  const int count = epoll_wait(poll, events, room < MAX_EVENTS ? room : MAX_EVENTS, milliseconds);
  for (int i = 0; i < count; i++) {
    const uint32_t found = events[i].events;
    ready[i].key = events[i].data.u64;
    ready[i].state = 0;
    if (found & EPOLLIN) ready[i].state |= CSYSTEM_READABLE;
    if (found & EPOLLOUT) ready[i].state |= CSYSTEM_WRITABLE;
    if (found & EPOLLRDHUP) ready[i].state |= CSYSTEM_FINISHED;
    if (found & (EPOLLERR | EPOLLHUP)) ready[i].state |= CSYSTEM_BROKEN;
  }
  return count;
}

static void write_address(const struct sockaddr_storage *from, uint8_t address[16]) {
  memset(address, 0, 16);
  if (from->ss_family == AF_INET6) {
    memcpy(address, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
  } else if (from->ss_family == AF_INET) {
    address[10] = address[11] = 0xff;
    memcpy(address + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
  }
}

int csystem_accept(int listener, uint8_t address[16]) {
  struct sockaddr_storage from;
  socklen_t length = sizeof from;
  const int descriptor = accept4(listener, (struct sockaddr *)&from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) return -1;
  // The server writes complete responses: Nagle's algorithm would only delay them.
  const int one = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  // What a client does not read stays with the response, which counts for the client, and not in the memory of all sockets.
  const int unsent = CSYSTEM_UNSENT;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
  write_address(&from, address);
  return descriptor;
}

int csystem_unread(int socket) {
  int unread = 0;
  return ioctl(socket, SIOCOUTQ, &unread) == 0 ? unread : 0;
}

void csystem_reset_unread(int socket) {
  if (csystem_unread(socket) == 0) return;
  const struct linger reset = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

void csystem_bound_receiving(int socket, int bytes) {
#ifdef SO_BUF_LOCK
  const int unlocked = 0;
  if (setsockopt(socket, SOL_SOCKET, SO_BUF_LOCK, &unlocked, sizeof unlocked) != 0 || bytes == 0) return;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
#else
  (void)socket;
  (void)bytes;
#endif
}

ssize_t csystem_send_file(int socket, int file, int64_t offset, size_t count) {
  off_t from = (off_t)offset;
  return sendfile(socket, file, &from, count);
}
