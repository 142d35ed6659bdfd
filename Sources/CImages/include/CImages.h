#pragma once

#include <stddef.h>
#include <stdint.h>

// PNG over libpng, WebP over libwebp, HEIF and AVIF over libheif, behind one reader of rows. libpng reports errors by
// longjmp, which may cross no Swift frame: each function here calls nothing of Swift and returns a code.

enum cimages_status {
  cimages_ok = 0,
  cimages_malformed,        // not of the format, or its data contradict themselves
  cimages_truncated,        // the data end before the picture does
  cimages_unsupported,      // of the format, but of a kind that is not decoded here
  cimages_too_many_pixels,  // by its header
  cimages_out_of_memory,
};

enum { cimages_message_size = 200 };

/// What failed; the message is the library's own, in English.
struct cimages_failure {
  enum cimages_status status;
  char message[cimages_message_size];
};

/// What the header says. Width and height are upright for HEIF and AVIF, whose rotation the decoder applies.
struct cimages_header {
  uint32_t width;
  uint32_t height;
  int bits;         // of one sample as coded
  int has_alpha;
  int is_animated;  // only its first picture is read
  // Code points of ITU-T H.273 where a HEIF or AVIF says them, else 2, "unspecified".
  int primaries;
  int transfer;
  int matrix;
  int is_full_range;
};

struct cimages_reader;

/// Opens a picture and checks its size against `pixels`. The bytes must outlive the reader. Free `*reader` with
/// `cimages_close`; after a failure there is none.
enum cimages_status cimages_open_png(const uint8_t *bytes, size_t count, uint64_t pixels,
                                     struct cimages_reader **reader, struct cimages_header *header,
                                     struct cimages_failure *failure);
enum cimages_status cimages_open_webp(const uint8_t *bytes, size_t count, uint64_t pixels,
                                      struct cimages_reader **reader, struct cimages_header *header,
                                      struct cimages_failure *failure);
enum cimages_status cimages_open_heif(const uint8_t *bytes, size_t count, uint64_t pixels,
                                      struct cimages_reader **reader, struct cimages_header *header,
                                      struct cimages_failure *failure);

/// Reads the next rows as 32-bit RGBA, not multiplied, exactly `row_count` of them. With the last row the rest of the
/// data is checked.
enum cimages_status cimages_read(struct cimages_reader *reader, uint8_t *rows, size_t stride, uint32_t row_count,
                                 struct cimages_failure *failure);

/// A 4:2:0 picture in 16-bit words of this machine; strides in bytes. Chroma has half the width and height, rounded up.
struct cimages_planes {
  const uint16_t *planes[3];
  size_t strides[3];
  int bits;
};

/// Decodes a HEIF or AVIF of more than 8 bits whole, without a conversion of its colours; the planes live as long as the
/// reader.
enum cimages_status cimages_read_planes(struct cimages_reader *reader, struct cimages_planes *planes,
                                        struct cimages_failure *failure);

/// Its ICC profile, or its Exif data from the byte order mark on; `*count` is 0 where there is none. They live as long as
/// the reader.
void cimages_profile(const struct cimages_reader *reader, const uint8_t **bytes, size_t *count);
void cimages_exif(const struct cimages_reader *reader, const uint8_t **bytes, size_t *count);

/// Frees a reader; NULL is allowed.
void cimages_close(struct cimages_reader *reader);

/// Encodes 24-bit RGB rows as WebP, or as AVIF, without metadata. Free `*bytes` with `cimages_free`.
enum cimages_status cimages_encode_webp(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, int quality,
                                        uint8_t **bytes, size_t *count, struct cimages_failure *failure);
enum cimages_status cimages_encode_avif(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, int quality,
                                        uint8_t **bytes, size_t *count, struct cimages_failure *failure);
void cimages_free(uint8_t *bytes);

/// What an ICC profile is of.
enum cimages_profile_space { cimages_space_grey, cimages_space_rgb, cimages_space_cmyk, cimages_space_other };

/// A conversion from the colours of an ICC profile to sRGB, perceptual, by LittleCMS.
struct cimages_transform;

/// Opens a profile and says what it is of and what it is called (ASCII, at most 99 bytes). `inverted` is for CMYK where 255
/// is no ink. Free with `cimages_close_transform`; after a failure there is none.
enum cimages_status cimages_open_transform(const uint8_t *profile, size_t count, int inverted,
                                           struct cimages_transform **transform, enum cimages_profile_space *space,
                                           char name[100], struct cimages_failure *failure);

/// Converts 8-bit inks of a CMYK profile to 24-bit RGB.
void cimages_transform8(const struct cimages_transform *transform, const uint8_t *source, uint8_t *target, size_t count);

/// Converts 16-bit colours of an RGB or grey profile to 16-bit RGB.
void cimages_transform16(const struct cimages_transform *transform, const uint16_t *source, uint16_t *target,
                         size_t count);

/// Frees a transform; NULL is allowed.
void cimages_close_transform(struct cimages_transform *transform);
