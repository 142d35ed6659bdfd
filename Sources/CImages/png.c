#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "reader.h"

// The limit on chunks that are decompressed: the colour profile is the largest of them. Text chunks are skipped.
enum { max_chunk_bytes = 4 << 20 };

// The limit on the pixels of an interlaced image with 16 bits, which are all in memory: as many as 64 million with 8 bits.
enum { max_interlaced_bytes = 256 << 20 };

// The limit on both edges, as in JPEG: libpng and its callers have several buffers of one row.
enum { max_edge = 65500 };

struct png_reader {
  struct cimages_reader reader;
  png_structp png;
  png_infop info;
  jmp_buf back;
  struct cimages_failure *failure;
  const uint8_t *bytes;
  size_t left;
  uint32_t height;
  uint32_t rows_read;
  struct cimages_pixels decoded;  // all pixels of an interlaced image
  uint8_t *profile;               // made of other chunks; NULL if there is no need
  int has_started;
};

static void fail(png_structp png, png_const_charp message) {
  struct png_reader *self = png_get_error_ptr(png);
  // The caller may have stored a more specific failure.
  if (self->failure->status == cimages_ok) cimages_fail(self->failure, cimages_malformed, message);
  longjmp(self->back, 1);
}

// libpng warns about damaged ancillary chunks, which it ignores; its warnings never affect pixels.
static void warn(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static void read_bytes(png_structp png, png_bytep target, size_t count) {
  struct png_reader *self = png_get_io_ptr(png);
  if (count > self->left) {
    cimages_fail(self->failure, cimages_truncated, "the data end too early");
    png_error(png, "the data end too early");
  }
  memcpy(target, self->bytes, count);
  self->bytes += count;
  self->left -= count;
}

// Before the first row: the output is RGBA of 8 bits, or of 16 in native words.
static void start(struct png_reader *self, int is_wide) {
  if (self->has_started) return;
  self->has_started = 1;
  png_structp png = self->png;
  png_set_expand(png);
  if (is_wide)
    png_set_swap(png);
  else
    png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, is_wide ? 0xFFFF : 0xFF, PNG_FILLER_AFTER);
  png_set_interlace_handling(png);
  png_read_update_info(png, self->info);
}

static void finish(struct png_reader *self) { png_read_end(self->png, NULL); }

static void read_rows(struct png_reader *self, uint8_t *rows, size_t stride, uint32_t row_count) {
  for (uint32_t row = 0; row < row_count; row++) png_read_row(self->png, rows + row * stride, NULL);
  self->rows_read += row_count;
  if (self->rows_read == self->height) finish(self);
}

// Each pass of an interlaced image refines the rows of the passes before.
static void read_interlaced(struct png_reader *self, size_t pixel_bytes) {
  struct cimages_pixels *pixels = &self->decoded;
  pixels->stride = pixel_bytes * pixels->width;
  pixels->bytes = calloc(pixels->height, pixels->stride);
  if (!pixels->bytes) {
    cimages_fail(self->failure, cimages_out_of_memory, "out of memory for an interlaced image");
    png_error(self->png, "out of memory");
  }
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
    for (uint32_t row = 0; row < pixels->height; row++)
      png_read_row(self->png, pixels->bytes + row * pixels->stride, NULL);
  finish(self);
}

static int is_interlaced(struct png_reader *self) {
  return png_get_interlace_type(self->png, self->info) != PNG_INTERLACE_NONE;
}

static enum cimages_status read_png(struct cimages_reader *reader, uint8_t *rows, size_t stride, uint32_t row_count,
                                    struct cimages_failure *failure) {
  struct png_reader *self = (struct png_reader *)reader;
  self->failure = failure;
  if (row_count > self->height - self->rows_read)
    return cimages_fail(failure, cimages_malformed, "the image has no more rows");
  if (setjmp(self->back)) return failure->status;
  start(self, 0);
  if (!is_interlaced(self)) {
    read_rows(self, rows, stride, row_count);
  } else {
    if (!self->decoded.bytes) read_interlaced(self, 4);
    cimages_copy_rows(&self->decoded, rows, stride, row_count);
    self->rows_read += row_count;
  }
  return failure->status;
}

// Of an image of 16 bits.
static enum cimages_status read_row16(struct cimages_reader *reader, uint16_t *row, struct cimages_failure *failure) {
  struct png_reader *self = (struct png_reader *)reader;
  self->failure = failure;
  if (self->rows_read == self->height) return cimages_fail(failure, cimages_malformed, "the image has no more rows");
  if (setjmp(self->back)) return failure->status;
  start(self, 1);
  if (!is_interlaced(self)) {
    read_rows(self, (uint8_t *)row, 0, 1);
  } else {
    if (!self->decoded.bytes) read_interlaced(self, 8);
    memcpy(row, self->decoded.bytes + self->rows_read * self->decoded.stride, self->decoded.stride);
    self->rows_read++;
  }
  return failure->status;
}

static void close_png(struct cimages_reader *reader) {
  struct png_reader *self = (struct png_reader *)reader;
  png_destroy_read_struct(&self->png, &self->info, NULL);
  free(self->decoded.bytes);
  free(self->profile);
  free(self);
}

// Code points, which precede a profile (PNG 3, 11.3.2.6); libpng 1.6 does not know the chunk.
static int read_code_points(struct png_reader *self, struct cimages_header *header) {
  png_unknown_chunkp chunks;
  const int count = png_get_unknown_chunks(self->png, self->info, &chunks);
  for (int index = 0; index < count; index++) {
    const png_unknown_chunk *chunk = &chunks[index];
    if (memcmp(chunk->name, "cICP", 4) != 0 || chunk->size != 4) continue;
    header->primaries = chunk->data[0];
    header->transfer = chunk->data[1];
    header->matrix = chunk->data[2];
    header->is_full_range = chunk->data[3];
    return 1;
  }
  return 0;
}

// Chromaticities and gamma without a profile become one, unless they describe sRGB.
static void make_profile(struct png_reader *self) {
  if (png_get_valid(self->png, self->info, PNG_INFO_sRGB)) return;
  struct cimages_chromaticities found = {0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06};
  const int has_primaries =
      png_get_cHRM(self->png, self->info, &found.white_x, &found.white_y, &found.red_x, &found.red_y, &found.green_x,
                   &found.green_y, &found.blue_x, &found.blue_y) != 0;
  double gamma = 0;
  const int has_gamma = png_get_gAMA(self->png, self->info, &gamma) != 0 && gamma > 0;
  const int is_like_srgb = !has_gamma || (gamma > 0.43 && gamma < 0.48);
  if (is_like_srgb && !has_primaries) return;
  self->profile = cimages_make_profile(&found, is_like_srgb ? 0 : 1 / gamma, &self->reader.profile_count);
  self->reader.profile = self->profile;
}

static void read_header(struct png_reader *self, uint64_t pixels, struct cimages_header *header) {
  png_structp png = self->png;
  png_set_read_fn(png, self, read_bytes);
  png_set_chunk_malloc_max(png, max_chunk_bytes);
  png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
  static const png_byte skipped[] = "tEXt\0zTXt\0iTXt\0sPLT";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, skipped, 4);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, (png_const_bytep) "cICP", 1);
  png_read_info(png, self->info);
  const uint32_t width = png_get_image_width(png, self->info);
  self->height = png_get_image_height(png, self->info);
  if (cimages_check_size(self->failure, width, self->height, pixels, max_edge) != cimages_ok)
    png_error(png, "the image is too large");
  const int color = png_get_color_type(png, self->info);
  *header = (struct cimages_header){
      .width = width,
      .height = self->height,
      .bits = png_get_bit_depth(png, self->info),
      .has_alpha = (color & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, self->info, PNG_INFO_tRNS),
      .primaries = 2,
      .transfer = 2,
      .matrix = 2,
      .is_full_range = 1,
  };
  png_charp name;
  int method;
  png_bytep profile;
  png_uint_32 profile_count;
  if (!read_code_points(self, header)) {
    if (png_get_iCCP(png, self->info, &name, &method, &profile, &profile_count)) {
      self->reader.profile = profile;
      self->reader.profile_count = profile_count;
    } else {
      make_profile(self);
    }
  }
  png_bytep exif;
  png_uint_32 exif_count;
  if (png_get_eXIf_1(png, self->info, &exif_count, &exif)) {
    self->reader.exif = exif;
    self->reader.exif_count = exif_count;
  }
  // A larger interlaced image is read with 8 bits.
  if (header->bits == 16 && (!is_interlaced(self) || 8 * (uint64_t)width * self->height <= max_interlaced_bytes))
    self->reader.read_row16 = read_row16;
  self->decoded = (struct cimages_pixels){.stride = 4 * (size_t)width, .width = width, .height = self->height};
}

enum cimages_status cimages_open_png(const uint8_t *bytes, size_t count, uint64_t pixels,
                                     struct cimages_reader **reader, struct cimages_header *header,
                                     struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  struct png_reader *self = calloc(1, sizeof *self);
  if (!self) return cimages_fail(failure, cimages_out_of_memory, "out of memory for a reader");
  self->reader = (struct cimages_reader){.read = read_png, .close = close_png};
  self->failure = failure;
  self->bytes = bytes;
  self->left = count;
  self->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, self, fail, warn);
  self->info = self->png ? png_create_info_struct(self->png) : NULL;
  if (!self->info)
    cimages_fail(failure, cimages_out_of_memory, "out of memory for libpng");
  else if (setjmp(self->back) == 0)
    read_header(self, pixels, header);
  if (failure->status == cimages_ok)
    *reader = &self->reader;
  else
    close_png(&self->reader);
  return failure->status;
}
