#pragma once

#include <stddef.h>
#include <stdint.h>

// JPEG over libjpeg-turbo. libjpeg reports errors by longjmp, which may cross no Swift frame: each function here sets its
// own jump, calls nothing of Swift, and returns a code.

enum cjpeg_status {
  cjpeg_ok = 0,
  cjpeg_malformed,        // no JPEG, or one whose data contradict themselves
  cjpeg_truncated,        // the data end before the picture does
  cjpeg_unsupported,      // a kind of JPEG that is not decoded here: 12 bit, two components, lossless
  cjpeg_too_many_pixels,  // by its header
  cjpeg_too_many_scans,   // a progressive picture that repeats itself
  cjpeg_too_large,        // more than 65500 pixels along an edge
  cjpeg_out_of_memory,
  cjpeg_unreadable,       // the file that it lies in cannot be read
};

enum { cjpeg_message_size = 200 };

/// What failed; the message is libjpeg's own, in English.
struct cjpeg_failure {
  enum cjpeg_status status;
  char message[cjpeg_message_size];
};

/// What to encode: 24-bit RGB rows, sRGB without a profile.
struct cjpeg_picture {
  const uint8_t *rows;
  size_t stride;
  uint32_t width;
  uint32_t height;
  int quality;         // 1 to 100
  int halves_chroma;   // nonzero: 4:2:0, else 4:4:4
  int is_progressive;  // nonzero: libjpeg's default progression, else one scan
};

/// Encodes with optimised Huffman tables and a JFIF header, nothing else. Free `*bytes` with `cjpeg_free`.
enum cjpeg_status cjpeg_encode(const struct cjpeg_picture *picture, uint8_t **bytes, size_t *count,
                               struct cjpeg_failure *failure);

/// Frees what `cjpeg_encode` made; NULL is allowed.
void cjpeg_free(uint8_t *bytes);

/// Where a JPEG lies.
struct cjpeg_source {
  const uint8_t *bytes;  // NULL: in a file
  size_t count;
  int descriptor;  // of the file, readable and seekable; it stays the caller's
};

/// What a decoder accepts.
struct cjpeg_limits {
  uint64_t pixels;           // of a picture that is decoded row by row
  uint64_t buffered_pixels;  // of a progressive one, whose coefficients are held whole
  int scans;
};

/// How a JPEG's numbers mean colours.
enum cjpeg_color {
  cjpeg_grey,
  cjpeg_ycbcr,
  cjpeg_rgb,
  cjpeg_cmyk,  // or YCCK, which is CMYK once it is decoded
};

/// What the header says.
struct cjpeg_header {
  uint32_t width;
  uint32_t height;
  int components;
  int is_progressive;
  enum cjpeg_color color;
  int is_inverted;  // CMYK as Adobe's programs write it: 255 is no ink
};

/// One component of a JPEG as coded.
struct cjpeg_component {
  uint32_t width;
  uint32_t height;
  uint32_t row_bytes;   // what a decoded row takes, padding included
  uint32_t band_rows;   // of it in one band
};

struct cjpeg_decoder;

/// Reads the header and checks it. What the source names must outlive the decoder. Free `*decoder` with `cjpeg_close`, also after a
/// failure of a later call; after a failure of this one there is none.
enum cjpeg_status cjpeg_open(const struct cjpeg_source *source, const struct cjpeg_limits *limits,
                             struct cjpeg_decoder **decoder, struct cjpeg_header *header,
                             struct cjpeg_failure *failure);

/// Prepares to decode the planes of a grey or YCbCr JPEG as they are coded; instead of `cjpeg_read`.
enum cjpeg_status cjpeg_start_planes(struct cjpeg_decoder *decoder, struct cjpeg_component components[3],
                                     struct cjpeg_failure *failure);

/// Decodes the next band: for each component `band_rows` rows, each into the memory named for it. With the last band the
/// rest of the data is checked.
enum cjpeg_status cjpeg_read_band(struct cjpeg_decoder *decoder, uint8_t *const *const rows[3],
                                  struct cjpeg_failure *failure);

/// Decodes the next rows as 24-bit RGB, or 32-bit CMYK of such a JPEG, exactly `row_count` of them. With the last row the rest of the data is checked.
enum cjpeg_status cjpeg_read(struct cjpeg_decoder *decoder, uint8_t *rows, size_t stride, uint32_t row_count,
                             struct cjpeg_failure *failure);

/// Frees a decoder; NULL is allowed.
void cjpeg_close(struct cjpeg_decoder *decoder);
