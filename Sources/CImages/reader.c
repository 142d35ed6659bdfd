#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cimages_status cimages_fail(struct cimages_failure *failure, enum cimages_status status, const char *message) {
  failure->status = status;
  snprintf(failure->message, cimages_message_size, "%s", message);
  return status;
}

enum cimages_status cimages_check_size(struct cimages_failure *failure, uint32_t width, uint32_t height, uint64_t pixels,
                                       uint32_t max_edge) {
  const int is_long = max_edge && (width > max_edge || height > max_edge);
  if (!is_long && (uint64_t)width * height <= pixels) return cimages_ok;
  failure->width = width;
  failure->height = height;
  failure->max_edge = max_edge;
  return is_long ? cimages_fail(failure, cimages_too_long_edge, "an edge is too long")
                 : cimages_fail(failure, cimages_too_many_pixels, "more pixels than the limit");
}

int cimages_copy_rows(struct cimages_pixels *pixels, uint8_t *rows, size_t stride, uint32_t row_count) {
  if (row_count > pixels->height - pixels->rows_read) return 0;
  for (uint32_t row = 0; row < row_count; row++)
    memcpy(rows + row * stride, pixels->bytes + (pixels->rows_read + row) * pixels->stride, 4 * (size_t)pixels->width);
  pixels->rows_read += row_count;
  return 1;
}

enum cimages_status cimages_read(struct cimages_reader *reader, uint8_t *rows, size_t stride, uint32_t row_count,
                                 struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  return reader->read(reader, rows, stride, row_count, failure);
}

enum cimages_status cimages_read_row16(struct cimages_reader *reader, uint16_t *row, uint32_t width,
                                       struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  if (reader->read_row16) return reader->read_row16(reader, row, failure);
  uint8_t *bytes = (uint8_t *)row;
  const size_t samples = 4 * (size_t)width;
  const enum cimages_status status = reader->read(reader, bytes, samples, 1, failure);
  // From the last on: the samples of 8 bits lie where the first half of the samples of 16 bits is written.
  for (size_t index = samples; status == cimages_ok && index-- > 0;) row[index] = (uint16_t)(257 * bytes[index]);
  return status;
}

enum cimages_status cimages_read_planes(struct cimages_reader *reader, struct cimages_planes *planes,
                                        struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  if (!reader->read_planes) return cimages_fail(failure, cimages_unsupported, "the format has no 16-bit planes");
  return reader->read_planes(reader, planes, failure);
}

void cimages_profile(const struct cimages_reader *reader, const uint8_t **bytes, size_t *count) {
  *bytes = reader->profile;
  *count = reader->profile_count;
}

void cimages_exif(const struct cimages_reader *reader, const uint8_t **bytes, size_t *count) {
  *bytes = reader->exif;
  *count = reader->exif_count;
}

void cimages_close(struct cimages_reader *reader) {
  if (reader) reader->close(reader);
}

void cimages_free(uint8_t *bytes) { free(bytes); }
