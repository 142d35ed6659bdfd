#pragma once

#include <stddef.h>
#include <stdint.h>

// Decoding of JPEG by libjpeg-turbo. libjpeg reports errors by longjmp, which must not unwind Swift frames: each
// function here calls setjmp itself, does not call Swift code, and returns a status.

enum cjpeg_status {
  cjpeg_ok = 0,
  cjpeg_malformed,        // not a JPEG image, or inconsistent data
  cjpeg_truncated,        // the data end too early
  cjpeg_unsupported,      // an unsupported feature: 12-bit samples, two components, lossless coding
  cjpeg_too_many_pixels,  // the header states more pixels than the limit
  cjpeg_too_many_buffered_pixels,  // more pixels than the limit for several scans
  cjpeg_too_many_scans,   // a progressive image with more scans than the limit
  cjpeg_too_large,        // more than 65500 pixels along an edge
  cjpeg_out_of_memory,
  cjpeg_unreadable,       // the file cannot be read
};

enum { cjpeg_message_size = 200 };

/// A failure with the message of libjpeg, and with the size and the limit of its edges if the image is too large.
struct cjpeg_failure {
  enum cjpeg_status status;
  uint32_t width, height, max_edge;
  char message[cjpeg_message_size];
};

/// The limits of a decoder.
struct cjpeg_limits {
  uint64_t pixels;           // that are decoded
  uint64_t buffered_pixels;  // for an image in several scans, whose coefficients libjpeg buffers
  uint64_t header_pixels;    // for an image in one scan, which is decoded at eighths of its width and height; at least `pixels`
  int scans;
};

/// The colour space of an image.
enum cjpeg_color {
  cjpeg_grey,
  cjpeg_ycbcr,
  cjpeg_rgb,
  // Or YCCK, which is decoded to CMYK. 255 means no ink, as Adobe's programs write it, with their segment or without:
  // programs that strip segments strip it too.
  cjpeg_cmyk,
};

/// The header of an image.
struct cjpeg_header {
  uint32_t width;
  uint32_t height;
  uint32_t decoded_width;  // the size at which it is decoded
  uint32_t decoded_height;
  int components;
  enum cjpeg_color color;
};

/// The size of one component as it is decoded.
struct cjpeg_component {
  uint32_t width;
  uint32_t height;
  uint32_t row_bytes;  // bytes of a decoded row, including padding
  uint32_t band_rows;  // rows in a band
};

struct cjpeg_decoder;

/// Opens an image in a file and checks its header against the limits. The file must be seekable; the descriptor must
/// stay open while the decoder is in use. Free `*decoder` with `cjpeg_close`, also after a later call has failed. On
/// failure `*decoder` is not set.
enum cjpeg_status cjpeg_open(int descriptor, const struct cjpeg_limits *limits, struct cjpeg_decoder **decoder,
                             struct cjpeg_header *header, struct cjpeg_failure *failure);

/// Prepares to decode the planes of a grey or YCbCr image, each in the size in which it is decoded. Use this instead of `cjpeg_read`.
enum cjpeg_status cjpeg_start_planes(struct cjpeg_decoder *decoder, struct cjpeg_component components[3],
                                     struct cjpeg_failure *failure);

/// Decodes the next band: `band_rows` rows of each component, each into the memory that `rows` gives for it. The last
/// band also checks the rest of the data.
enum cjpeg_status cjpeg_read_band(struct cjpeg_decoder *decoder, uint8_t *const *const rows[3],
                                  struct cjpeg_failure *failure);

/// Decodes the next `row_count` rows as 24-bit RGB, or as 32-bit CMYK for a CMYK image. The last row also checks the
/// rest of the data.
enum cjpeg_status cjpeg_read(struct cjpeg_decoder *decoder, uint8_t *rows, size_t stride, uint32_t row_count,
                             struct cjpeg_failure *failure);

/// Frees a decoder; NULL is allowed.
void cjpeg_close(struct cjpeg_decoder *decoder);
