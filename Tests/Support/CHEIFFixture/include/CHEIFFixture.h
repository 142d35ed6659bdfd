#pragma once

#include <stddef.h>
#include <stdint.h>

/// Encodes 24-bit RGB rows as a HEIC or AVIF file of some bits for each sample. The caller frees `*bytes`. Returns 0, or -1 on failure.
int cheiffixture_encode(const uint8_t *rows, uint32_t width, uint32_t height, int is_avif, int bits, int quality,
                        uint8_t **bytes, size_t *count);
