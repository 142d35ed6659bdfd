#include "CSystem.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { max_descriptors = 32 };

int csystem_socket_pair(int pair[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair); }

int csystem_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(max_descriptors * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor_count > max_descriptors) {
    errno = EINVAL;
    return -1;
  }
  if (descriptor_count > 0) {
    message.msg_control = control.room;
    message.msg_controllen = CMSG_SPACE((size_t)descriptor_count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN((size_t)descriptor_count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, (size_t)descriptor_count * sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -1 : 0;
}

ssize_t csystem_receive(int socket, void *bytes, size_t room, int *descriptors, int *descriptor_count) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(max_descriptors * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = bytes, .iov_len = room};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  int limit = *descriptor_count;
  *descriptor_count = 0;
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return -1;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < count; i++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + (size_t)i * sizeof(int), sizeof descriptor);
      if (*descriptor_count < limit) {
        descriptors[(*descriptor_count)++] = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
  if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
    while (*descriptor_count > 0) close(descriptors[--*descriptor_count]);
    errno = EMSGSIZE;
    return -1;
  }
  return received;
}

int csystem_send_datagram(const char *path, const void *bytes, size_t count) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const size_t length = strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) {
    errno = length == 0 ? EINVAL : ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = 0;
  const int socket_number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_number < 0) return -1;
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  ssize_t sent;
  do {
    sent = sendto(socket_number, bytes, count, MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
  } while (sent < 0 && errno == EINTR);
  const int failure = errno;
  close(socket_number);
  errno = failure;
  return sent < 0 ? -1 : 0;
}
