#pragma once

#include <stddef.h>
#include <stdint.h>

// libjpeg as an encoder of fixtures, and as the judge of another encoder.

/// Three planes of 8-bit samples, 4:4:4 or 4:2:0.
struct cjpegreference_image {
  const uint8_t *planes[3];
  ptrdiff_t strides[3];
  int width, height;
  int chroma_width, chroma_height;
};

/// Encodes planes as a baseline JPEG with libjpeg. Free `*bytes`. Returns nonzero on failure.
int cjpegreference_encode_planes(const struct cjpegreference_image *image, int quality, uint8_t **bytes,
                                 size_t *count);

/// Encodes rows of 24-bit RGB pixels, as 4:2:0 or 4:4:4, as a progressive JPEG or a baseline one, with optimised
/// Huffman tables. Free `*bytes`. Returns nonzero on failure.
int cjpegreference_encode(const uint8_t *rows, int width, int height, int quality, int halves_chroma,
                          int is_progressive, uint8_t **bytes, size_t *count);

/// Encodes rows of pixels of one to four samples as a baseline JPEG without a conversion and without a segment that says what the samples are.
/// `ids` are those of the components. Free `*bytes`. Returns nonzero on failure.
int cjpegreference_encode_samples(const uint8_t *rows, int width, int height, int components, const uint8_t *ids,
                                  int quality, uint8_t **bytes, size_t *count);

/// Returns whether two files have the same layout, tables and coefficients, and libjpeg reads both without a warning.
int cjpegreference_agree(const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count);
