#include "CLazyLibrary.h"

// The functions of OpenSSL's libcrypto that are called. A call to a function that is missing here fails to link.

LAZY_LIBRARY(crypto, "libcrypto.so.3");
LAZY_FUNCTION(crypto, EVP_DigestFinal_ex);
LAZY_FUNCTION(crypto, EVP_DigestInit_ex);
LAZY_FUNCTION(crypto, EVP_DigestUpdate);
LAZY_FUNCTION(crypto, EVP_MD_CTX_free);
LAZY_FUNCTION(crypto, EVP_MD_CTX_new);
LAZY_FUNCTION(crypto, EVP_sha256);
LAZY_FUNCTION(crypto, HMAC);
