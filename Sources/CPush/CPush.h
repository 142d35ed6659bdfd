#pragma once

#include <nghttp2/nghttp2.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift does not import macros with arguments (SSL_CTX_set_min_proto_version(3), SSL_set_tlsext_host_name(3), SSL_CTX_set_mode(3)).

static inline int cpush_require_tls12(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline int cpush_set_server_name(SSL *tls, const char *name) { return SSL_set_tlsext_host_name(tls, name); }
static inline void cpush_set_partial_writes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

// Swift's compiler merges functions that differ in what they call, and passes the address of that, which the dynamic linker would need at
// the start: before the library is opened.
static __attribute__((noinline)) int cpush_read(SSL *tls, void *bytes, int count) { return SSL_read(tls, bytes, count); }
static __attribute__((noinline)) int cpush_write(SSL *tls, const void *bytes, int count) { return SSL_write(tls, bytes, count); }
