#pragma once

#include <curl/curl.h>

// Swift does not import variadic functions: curl_easy_setopt and curl_easy_getinfo, one function for each argument
// type.

static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_receiver(CURL *handle, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_reader(CURL *handle, curl_read_callback value) {
  return curl_easy_setopt(handle, CURLOPT_READFUNCTION, value);
}
static inline CURLcode ccurl_set_seeker(CURL *handle, curl_seek_callback value) {
  return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode ccurl_set_progress(CURL *handle, curl_xferinfo_callback value) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLcode ccurl_set_open_socket(CURL *handle, curl_opensocket_callback value) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode ccurl_get_number(CURL *handle, CURLINFO information, long *value) {
  return curl_easy_getinfo(handle, information, value);
}
static inline CURLcode ccurl_get_count(CURL *handle, CURLINFO information, curl_off_t *value) {
  return curl_easy_getinfo(handle, information, value);
}

// Swift does not import macros with a cast.
static const long ccurl_global_default = CURL_GLOBAL_DEFAULT;
static const size_t ccurl_read_abort = CURL_READFUNC_ABORT;
