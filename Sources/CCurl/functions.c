#include "CLazyLibrary.h"

// The functions of libcurl that are called. A call to a function that is missing here fails to link.

LAZY_LIBRARY(curl, "libcurl.so.4");
LAZY_FUNCTION(curl, curl_easy_cleanup);
LAZY_FUNCTION(curl, curl_easy_getinfo);
LAZY_FUNCTION(curl, curl_easy_init);
LAZY_FUNCTION(curl, curl_easy_perform);
LAZY_FUNCTION(curl, curl_easy_reset);
LAZY_FUNCTION(curl, curl_easy_setopt);
LAZY_FUNCTION(curl, curl_easy_strerror);
LAZY_FUNCTION(curl, curl_global_init);
LAZY_FUNCTION(curl, curl_mime_addpart);
LAZY_FUNCTION(curl, curl_mime_data);
LAZY_FUNCTION(curl, curl_mime_data_cb);
LAZY_FUNCTION(curl, curl_mime_filename);
LAZY_FUNCTION(curl, curl_mime_free);
LAZY_FUNCTION(curl, curl_mime_init);
LAZY_FUNCTION(curl, curl_mime_name);
LAZY_FUNCTION(curl, curl_mime_type);
LAZY_FUNCTION(curl, curl_slist_append);
LAZY_FUNCTION(curl, curl_slist_free_all);
