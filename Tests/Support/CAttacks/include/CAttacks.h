#pragma once

/// Makes a system call with which a child could leave its sandbox, by the call's name. Returns its result or -errno;
/// -1000 if the name is unknown.
long cattacks_make(const char *name);

/// Sends a message without content over the socket.
void cattacks_send_nothing(int socket);
