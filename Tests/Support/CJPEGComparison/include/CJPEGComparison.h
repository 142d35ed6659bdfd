#pragma once

#include <stddef.h>
#include <stdint.h>

// Comparison of JPEG files by libjpeg, for tests of another encoder.

/// Three planes of 8-bit samples, 4:4:4 or 4:2:0.
struct cjpegcomparison_image {
  const uint8_t *planes[3];
  ptrdiff_t strides[3];
  int width, height;
  int chroma_width, chroma_height;
};

/// Encodes planes as a baseline JPEG with libjpeg. Free `*bytes`. Returns nonzero on failure.
int cjpegcomparison_encode(const struct cjpegcomparison_image *image, int quality, uint8_t **bytes, size_t *count);

/// Returns whether two files have the same layout, tables and coefficients, and libjpeg reads both without a warning.
int cjpegcomparison_agree(const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count);
