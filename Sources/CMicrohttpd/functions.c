#include "CLazyLibrary.h"

// What of libmicrohttpd is called; a function that is missing here fails to link.

LAZY_LIBRARY(microhttpd, "libmicrohttpd.so.12");
LAZY_FUNCTION(microhttpd, MHD_add_response_header);
LAZY_FUNCTION(microhttpd, MHD_create_response_from_buffer);
LAZY_FUNCTION(microhttpd, MHD_create_response_from_callback);
LAZY_FUNCTION(microhttpd, MHD_create_response_from_fd_at_offset64);
LAZY_FUNCTION(microhttpd, MHD_destroy_response);
LAZY_FUNCTION(microhttpd, MHD_get_connection_info);
LAZY_FUNCTION(microhttpd, MHD_get_connection_values_n);
LAZY_FUNCTION(microhttpd, MHD_queue_response);
LAZY_FUNCTION(microhttpd, MHD_resume_connection);
LAZY_FUNCTION(microhttpd, MHD_set_response_options);
LAZY_FUNCTION(microhttpd, MHD_start_daemon);
LAZY_FUNCTION(microhttpd, MHD_stop_daemon);
LAZY_FUNCTION(microhttpd, MHD_suspend_connection);
