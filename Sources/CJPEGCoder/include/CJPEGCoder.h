#ifndef CJPEGCODER_H
#define CJPEGCODER_H

#include <stddef.h>
#include <stdint.h>

/// What the encoder answers; zero is success.
enum {
  /// The picture was encoded.
  CJPEGCODER_OK = 0,
  /// An allocation failed; nothing was kept.
  CJPEGCODER_OUT_OF_MEMORY = 1,
  /// The picture, the quality or a pointer is not one the encoder accepts.
  CJPEGCODER_BAD_ARGUMENT = 2
};

/// Three planes of 8-bit samples, JFIF YCbCr full range, or one plane for grey.
typedef struct {
  /// The first sample of each plane; only plane[0] is read for grey.
  const uint8_t *plane[3];
  /// The distance in bytes from one row of a plane to the next.
  ptrdiff_t stride[3];
  /// 1 for grey, 3 for YCbCr.
  int components;
  /// The size of the first plane, each 1...65500.
  int width, height;
  /// The size of the other two: either width x height (4:4:4) or ceil(width/2) x ceil(height/2) (4:2:0).
  int chroma_width, chroma_height;
} cjpegcoder_picture;

/// Memory that grows; free it with cjpegcoder_free.
typedef struct {
  /// The memory, or NULL.
  uint8_t *bytes;
  /// How many bytes are in use.
  size_t count;
  /// How many bytes are allocated.
  size_t capacity;
} cjpegcoder_buffer;

/// Writes the picture to `out` as a progressive JPEG file, replacing what `out` held (zero it before its first use);
/// quality is 1...100 with the meaning libjpeg gives it; on failure `out` is left empty and freed. The bytes are the same
/// with `portable`, which leaves out what only some processors have.
int cjpegcoder_encode(const cjpegcoder_picture *picture, int quality, int portable, cjpegcoder_buffer *out);

/// Frees the memory of a buffer and leaves it empty.
void cjpegcoder_free(cjpegcoder_buffer *buffer);

#endif
