#pragma once

#include "include/CImages.h"

/// What all formats have in common; each embeds it as its first member.
struct cimages_reader {
  enum cimages_status (*read)(struct cimages_reader *, uint8_t *rows, size_t stride, uint32_t row_count,
                              struct cimages_failure *);
  enum cimages_status (*read_planes)(struct cimages_reader *, struct cimages_planes *, struct cimages_failure *);
  void (*close)(struct cimages_reader *);
  const uint8_t *profile;
  size_t profile_count;
  const uint8_t *exif;
  size_t exif_count;
};

/// Notes a failure and returns its code.
enum cimages_status cimages_fail(struct cimages_failure *failure, enum cimages_status status, const char *message);

/// Hands out rows of a picture that is decoded whole already.
struct cimages_pixels {
  uint8_t *bytes;
  size_t stride;
  uint32_t width;
  uint32_t height;
  uint32_t given;
};

/// Copies the next rows; false if there are not so many.
int cimages_take_rows(struct cimages_pixels *pixels, uint8_t *rows, size_t stride, uint32_t row_count);
