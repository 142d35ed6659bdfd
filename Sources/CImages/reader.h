#pragma once

#include "include/CImages.h"

/// The common part of the readers of all formats; each embeds it as its first member.
struct cimages_reader {
  enum cimages_status (*read)(struct cimages_reader *, uint8_t *rows, size_t stride, uint32_t row_count,
                              struct cimages_failure *);
  // NULL without rows of 16 bits.
  enum cimages_status (*read_row16)(struct cimages_reader *, uint16_t *row, struct cimages_failure *);
  enum cimages_status (*read_planes)(struct cimages_reader *, struct cimages_planes *, struct cimages_failure *);
  void (*close)(struct cimages_reader *);
  const uint8_t *profile;
  size_t profile_count;
  const uint8_t *exif;
  size_t exif_count;
};

/// Stores a failure and returns its status.
enum cimages_status cimages_fail(struct cimages_failure *failure, enum cimages_status status, const char *message);

/// Checks a size against a limit of pixels, and of edges unless that is 0.
enum cimages_status cimages_check_size(struct cimages_failure *failure, uint32_t width, uint32_t height, uint64_t pixels,
                                       uint32_t max_edge);

/// The white point and the primaries of a device (CIE 1931).
struct cimages_chromaticities {
  double white_x, white_y, red_x, red_y, green_x, green_y, blue_x, blue_y;
};

/// Makes an ICC profile, to be freed with free(); NULL if the chromaticities are impossible, or memory is exhausted.
/// `gamma` is the exponent from a signal to light; 0: the curve of sRGB.
uint8_t *cimages_make_profile(const struct cimages_chromaticities *chromaticities, double gamma, size_t *count);

/// The pixels of a decoded image, with the number of rows that the caller has read.
struct cimages_pixels {
  uint8_t *bytes;
  size_t stride;
  uint32_t width;
  uint32_t height;
  uint32_t rows_read;
};

/// Copies the next rows. Returns 0 if fewer are left.
int cimages_copy_rows(struct cimages_pixels *pixels, uint8_t *rows, size_t stride, uint32_t row_count);
