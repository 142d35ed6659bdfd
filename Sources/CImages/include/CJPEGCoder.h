#ifndef CJPEGCODER_H
#define CJPEGCODER_H

#include <stddef.h>
#include <stdint.h>

/// The results of the encoder.
enum {
  /// The image was encoded.
  CJPEGCODER_OK = 0,
  /// An allocation failed.
  CJPEGCODER_OUT_OF_MEMORY = 1,
  /// The image, the quality or a pointer is invalid.
  CJPEGCODER_BAD_ARGUMENT = 2
};

/// Three planes of 8-bit samples in full-range YCbCr (JFIF).
typedef struct {
  /// The first sample of each plane.
  const uint8_t *plane[3];
  /// The distance in bytes from one row of a plane to the next.
  ptrdiff_t stride[3];
  /// The size of the first plane, each 1...65500.
  int width, height;
  /// The size of the other two: either width x height (4:4:4) or ceil(width/2) x ceil(height/2) (4:2:0).
  int chroma_width, chroma_height;
} cjpegcoder_image;

/// A growing buffer; free it with cjpegcoder_free.
typedef struct {
  /// The memory, or NULL.
  uint8_t *bytes;
  /// The number of bytes in use.
  size_t count;
  /// The number of bytes allocated.
  size_t capacity;
} cjpegcoder_buffer;

/// Encodes an image as a progressive JPEG file and replaces the content of `out`, which must be zeroed before its
/// first use. On failure `out` is freed and empty. `quality` is 1...100 in libjpeg's scale. With `portable` the
/// encoder uses no instructions that only some processors have; the bytes are the same.
int cjpegcoder_encode(const cjpegcoder_image *image, int quality, int portable, cjpegcoder_buffer *out);

/// Frees the memory of a buffer and leaves it empty.
void cjpegcoder_free(cjpegcoder_buffer *buffer);

#endif
