#pragma once

#include <stddef.h>
#include <stdint.h>

/// Writes 24-bit RGB rows as a HEIC file, coded as HEVC; the caller frees the bytes. 0 is success.
int cheiffixture_encode(const uint8_t *rows, uint32_t width, uint32_t height, int quality, uint8_t **bytes,
                        size_t *count);
