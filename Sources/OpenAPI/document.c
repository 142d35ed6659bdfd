#include "openapi.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// Copied by the compiler (C23, 6.10.4). An array in Swift would be parsed, number by number.
static const unsigned char document[] = {
#embed "openapi.json"
};

const unsigned char *copenapi_document(size_t *size) {
  *size = sizeof document;
  return document;
}
