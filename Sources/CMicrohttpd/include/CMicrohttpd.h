#pragma once

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

/// What a daemon is started with; every callback gets `context`.
struct cmicrohttpd_configuration {
  int listening_socket;
  unsigned int threads;
  unsigned int most_connections;
  unsigned int most_connections_per_address;  // 0: no limit
  unsigned int inactivity_seconds;
  size_t memory_per_connection;  // bytes; headers that do not fit are answered with 431
  void *context;
  void *(*on_target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback on_request;
  MHD_RequestCompletedCallback on_completion;
  MHD_NotifyConnectionCallback on_connection;
};

// Necessary because libmicrohttpd wants a callback to leave the target as it is.
static inline size_t cmicrohttpd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  size_t length = 0;
  while (text[length] != 0) length++;
  return length;
}

// Necessary because MHD_start_daemon is variadic.
static inline struct MHD_Daemon *cmicrohttpd_start(const struct cmicrohttpd_configuration *c) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME, 0, NULL, NULL, c->on_request, c->context,
      MHD_OPTION_LISTEN_SOCKET, c->listening_socket,
      MHD_OPTION_THREAD_POOL_SIZE, c->threads,
      MHD_OPTION_CONNECTION_LIMIT, c->most_connections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, c->most_connections_per_address,
      MHD_OPTION_CONNECTION_TIMEOUT, c->inactivity_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, c->memory_per_connection,
      MHD_OPTION_UNESCAPE_CALLBACK, &cmicrohttpd_keep_escapes, NULL,
      MHD_OPTION_URI_LOG_CALLBACK, c->on_target, c->context,
      MHD_OPTION_NOTIFY_COMPLETED, c->on_completion, c->context,
      MHD_OPTION_NOTIFY_CONNECTION, c->on_connection, c->context,
      MHD_OPTION_END);
}

// Necessary because MHD_get_connection_info is variadic.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

// Necessary because MHD_get_connection_info is variadic.
static inline void *cmicrohttpd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

// Necessary because the declaration names a MHD_Response * that Swift cannot build from an immutable buffer.
static inline struct MHD_Response *cmicrohttpd_copied_response(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

// Necessary because Swift does not see these three: they are macros that cast.
static const ssize_t cmicrohttpd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t cmicrohttpd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

/// A response of unknown length. The buffer serves clients that know no chunks; the others' is the connection's own.
static inline struct MHD_Response *cmicrohttpd_streamed_response(
    void *context, MHD_ContentReaderCallback read, MHD_ContentReaderFreeCallback release) {
  return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read, context, release);
}

// Necessary because MHD_set_response_options is variadic.
static inline enum MHD_Result cmicrohttpd_forbid_chunks(struct MHD_Response *response) {
  return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}
