#pragma once

#include <stddef.h>
#include <stdint.h>

// What libjpeg says of JPEG files, for tests that hold another coder to it.

/// Three planes of 8-bit samples; chroma has half the samples in both directions, rounded up, or as many.
struct cjpegcomparison_picture {
  const uint8_t *planes[3];
  ptrdiff_t strides[3];
  int width, height;
  int chroma_width, chroma_height;
};

/// Encodes planes as they are with libjpeg's own encoder, baseline. Free `*bytes`. Nonzero where it fails.
int cjpegcomparison_encode(const struct cjpegcomparison_picture *picture, int quality, uint8_t **bytes, size_t *count);

/// Whether two files have the same layout, tables and coefficients, and both read without a warning.
int cjpegcomparison_agree(const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count);
