#pragma once

#include <stddef.h>

/// Returns the OpenAPI 3.1 document of the control API, without what follows from the routes, in JSON, and sets `*size` to
/// its number of bytes.
const unsigned char *copenapi_document(size_t *size);
