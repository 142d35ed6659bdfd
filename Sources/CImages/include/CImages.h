#pragma once

#include <stddef.h>
#include <stdint.h>

#include "CJPEG.h"
#include "CJPEGCoder.h"

// PNG by libpng, WebP by libwebp, HEIF and AVIF by libheif, behind one interface that reads rows. libpng reports
// errors by longjmp, which must not unwind Swift frames: each function here does not call Swift code and returns a
// status.

enum cimages_status {
  cimages_ok = 0,
  cimages_malformed,        // not of the format, or inconsistent data
  cimages_truncated,        // the data end too early
  cimages_unsupported,      // an unsupported feature of the format
  cimages_too_many_pixels,  // the header states more pixels than the limit
  cimages_too_long_edge,    // or an edge that is too long
  cimages_out_of_memory,
};

enum { cimages_message_size = 200 };

/// A failure with the message of the library, and with the size and the limit of its edges if the image is too large; 0 if
/// they are not known.
struct cimages_failure {
  enum cimages_status status;
  uint32_t width, height, max_edge;
  char message[cimages_message_size];
};

/// The header of an image. Width and height are upright for HEIF and AVIF: the decoder applies the rotation.
struct cimages_header {
  uint32_t width;
  uint32_t height;
  int bits;  // per coded sample
  int has_alpha;
  int is_animated;  // only the first frame is read
  // Code points of ITU-T H.273 if a HEIF or AVIF image has them, else 2, "unspecified".
  int primaries;
  int transfer;
  int matrix;
  int is_full_range;
};

struct cimages_reader;

/// Opens an image and checks that it has at most `pixels` pixels. The bytes must outlive the reader. Free `*reader`
/// with `cimages_close`. On failure `*reader` is not set.
enum cimages_status cimages_open_png(const uint8_t *bytes, size_t count, uint64_t pixels,
                                     struct cimages_reader **reader, struct cimages_header *header,
                                     struct cimages_failure *failure);
enum cimages_status cimages_open_webp(const uint8_t *bytes, size_t count, uint64_t pixels,
                                      struct cimages_reader **reader, struct cimages_header *header,
                                      struct cimages_failure *failure);
enum cimages_status cimages_open_heif(const uint8_t *bytes, size_t count, uint64_t pixels,
                                      struct cimages_reader **reader, struct cimages_header *header,
                                      struct cimages_failure *failure);

/// Reads the next `row_count` rows as 32-bit RGBA, with alpha as the file has it: premultiplied or not. The last row also
/// checks the rest of the data.
enum cimages_status cimages_read(struct cimages_reader *reader, uint8_t *rows, size_t stride, uint32_t row_count,
                                 struct cimages_failure *failure);

/// Reads the next row of `width` pixels like `cimages_read`, with 16 bits for each sample in native words. Samples of
/// fewer bits are widened. All rows of an image are read by one of the two functions.
enum cimages_status cimages_read_row16(struct cimages_reader *reader, uint16_t *row, uint32_t width,
                                       struct cimages_failure *failure);

/// A 4:2:0 image in native 16-bit words, with strides in bytes. Chroma has half the width and height, rounded up.
struct cimages_planes {
  const uint16_t *planes[3];
  size_t strides[3];
  int bits;
  // Of the whole size, in bytes for up to 8 bits, else in words; NULL without transparency.
  const void *alpha;
  size_t alpha_stride;
  int alpha_bits;
};

/// Decodes a HEIF or AVIF image of more than 8 bits without a colour conversion. The planes are valid until the reader
/// is closed. After a failure by `cimages_unsupported` its rows can be read instead.
enum cimages_status cimages_read_planes(struct cimages_reader *reader, struct cimages_planes *planes,
                                        struct cimages_failure *failure);

/// Returns the ICC profile, or the Exif data from the byte order mark on; `*count` is 0 if there is none. The bytes are
/// valid until the reader is closed.
void cimages_profile(const struct cimages_reader *reader, const uint8_t **bytes, size_t *count);
void cimages_exif(const struct cimages_reader *reader, const uint8_t **bytes, size_t *count);

/// Frees a reader; NULL is allowed.
void cimages_close(struct cimages_reader *reader);

/// Initialises libheif with its plugins, which it does with the first image otherwise.
void cimages_start_heif(void);

/// Returns whether libheif has a decoder of HEVC, or of AV1. Since Debian 13 each codec is a plugin with a package of its own.
int cimages_decodes_heif(int is_avif);

/// Returns whether libheif has an encoder of AV1.
int cimages_encodes_avif(void);

/// Encodes 24-bit RGB rows as WebP, or as AVIF, without metadata. Free `*bytes` with `cimages_free`.
enum cimages_status cimages_encode_webp(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
                                        int quality, uint8_t **bytes, size_t *count, struct cimages_failure *failure);
enum cimages_status cimages_encode_avif(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
                                        int quality, uint8_t **bytes, size_t *count, struct cimages_failure *failure);
void cimages_free(uint8_t *bytes);

/// An encoder of animated WebP, by libwebpmux, without metadata. The animation repeats without end.
struct cimages_animation;

/// Starts an animation of this size. Free `*animation` with `cimages_close_animation`. On failure it is not set.
enum cimages_status cimages_start_animation(uint32_t width, uint32_t height, int quality,
                                            struct cimages_animation **animation, struct cimages_failure *failure);

/// Adds rows of 32-bit RGBA without padding, which are reduced to the size of the animation. They are shown from `start` on, in
/// milliseconds, which is later than that of the frame before.
enum cimages_status cimages_add_frame(struct cimages_animation *animation, const uint8_t *rows, uint32_t width,
                                      uint32_t height, int start, struct cimages_failure *failure);

/// Ends the animation at `end`, in milliseconds. Free `*bytes` with `cimages_free`.
enum cimages_status cimages_finish_animation(struct cimages_animation *animation, int end, uint8_t **bytes,
                                             size_t *count, struct cimages_failure *failure);

/// Frees an animation; NULL is allowed.
void cimages_close_animation(struct cimages_animation *animation);

/// The colour space of an ICC profile.
enum cimages_profile_space { cimages_space_grey, cimages_space_rgb, cimages_space_cmyk, cimages_space_other };

/// A perceptual transform from the colours of an ICC profile to sRGB, by Little CMS.
struct cimages_transform;

/// Opens a profile and returns its colour space and its description (ASCII, at most 99 bytes). Free `*transform` with
/// `cimages_close_transform`. On failure `*transform` is not set.
enum cimages_status cimages_open_transform(const uint8_t *profile, size_t count,
                                           struct cimages_transform **transform, enum cimages_profile_space *space,
                                           char name[100], struct cimages_failure *failure);

/// Converts 8-bit pixels of a CMYK profile, in which 255 means no ink, to 24-bit RGB.
void cimages_transform8(const struct cimages_transform *transform, const uint8_t *source, uint8_t *target,
                        size_t count);

/// Converts 16-bit pixels of an RGB or grey profile to 16-bit RGB.
void cimages_transform16(const struct cimages_transform *transform, const uint16_t *source, uint16_t *target,
                         size_t count);

/// Frees a transform; NULL is allowed.
void cimages_close_transform(struct cimages_transform *transform);
