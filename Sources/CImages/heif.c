#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

#include "reader.h"

struct heif_file {
  struct cimages_reader reader;
  struct heif_context *context;
  struct heif_image_handle *primary;
  struct heif_image *image;
  uint8_t *profile;
  uint32_t width;
  uint32_t height;
  uint32_t rows_read;
};

static enum cimages_status fail(struct cimages_failure *failure, struct heif_error error) {
  switch (error.code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
      return cimages_fail(failure, cimages_unsupported, error.message);
    case heif_error_Memory_allocation_error:
      return cimages_fail(
          failure,
          error.subcode == heif_suberror_Security_limit_exceeded ? cimages_too_many_pixels : cimages_out_of_memory,
          error.message);
    default:
      return cimages_fail(
          failure, error.subcode == heif_suberror_End_of_data ? cimages_truncated : cimages_malformed, error.message);
  }
}

// heif_suberror_NCLX_colr_VUI_mismatch, of which libheif warns since 1.22: the `colr` box of the file and the coded image describe colours
// differently, as in photos of some cameras. The box counts (ISO/IEC 23000-22, 7.3.6.4), and the data are whole.
enum { other_colors = 152 };

static enum cimages_status decode(struct heif_file *self, enum heif_colorspace space, enum heif_chroma chroma,
                                  int to_8bit, struct cimages_failure *failure) {
  struct heif_decoding_options *options = heif_decoding_options_alloc();
  if (!options) return cimages_fail(failure, cimages_out_of_memory, "out of memory for decoding options");
  options->convert_hdr_to_8bit = (uint8_t)to_8bit;
  options->strict_decoding = 1;
  const struct heif_error error = heif_decode_image(self->primary, &self->image, space, chroma, options);
  heif_decoding_options_free(options);
  if (error.code != heif_error_Ok) return fail(failure, error);
  struct heif_error warning;
  for (int index = 0; heif_image_get_decoding_warnings(self->image, index, &warning, 1) > 0; index++)
    if ((int)warning.subcode != other_colors) return fail(failure, warning);
  if ((uint32_t)heif_image_get_primary_width(self->image) != self->width ||
      (uint32_t)heif_image_get_primary_height(self->image) != self->height)
    return cimages_fail(failure, cimages_malformed, "the size of the image differs from the size in the header");
  return cimages_ok;
}

static enum cimages_status read_heif(struct cimages_reader *reader, uint8_t *rows, size_t stride, uint32_t row_count,
                                     struct cimages_failure *failure) {
  struct heif_file *self = (struct heif_file *)reader;
  if (!self->image) {
    const enum cimages_status status =
        decode(self, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, 1, failure);
    if (status != cimages_ok) return status;
  }
  int plane_stride;
  const uint8_t *plane = heif_image_get_plane_readonly(self->image, heif_channel_interleaved, &plane_stride);
  if (!plane || row_count > self->height - self->rows_read)
    return cimages_fail(failure, cimages_malformed, "the image has no more rows");
  for (uint32_t row = 0; row < row_count; row++)
    memcpy(rows + row * stride, plane + (size_t)(self->rows_read + row) * (size_t)plane_stride,
           4 * (size_t)self->width);
  self->rows_read += row_count;
  return cimages_ok;
}

static enum cimages_status read_alpha(const struct heif_file *self, struct cimages_planes *planes,
                                      struct cimages_failure *failure) {
  if (!heif_image_handle_has_alpha_channel(self->primary)) return cimages_ok;
  int stride = 0;
  planes->alpha = heif_image_get_plane_readonly(self->image, heif_channel_Alpha, &stride);
  planes->alpha_stride = (size_t)stride;
  planes->alpha_bits = heif_image_get_bits_per_pixel_range(self->image, heif_channel_Alpha);
  if (!planes->alpha || planes->alpha_bits < 1 || planes->alpha_bits > 16 ||
      (uint32_t)heif_image_get_width(self->image, heif_channel_Alpha) != self->width ||
      (uint32_t)heif_image_get_height(self->image, heif_channel_Alpha) != self->height)
    return cimages_fail(failure, cimages_unsupported, "the alpha channel has another size");
  return cimages_ok;
}

static enum cimages_status find_planes(const struct heif_file *self, struct cimages_planes *planes,
                                       struct cimages_failure *failure) {
  static const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
  planes->bits = heif_image_get_bits_per_pixel_range(self->image, heif_channel_Y);
  for (int index = 0; index < 3; index++) {
    int stride;
    const uint8_t *plane = heif_image_get_plane_readonly(self->image, channels[index], &stride);
    if (!plane || planes->bits <= 8 ||
        heif_image_get_bits_per_pixel_range(self->image, channels[index]) != planes->bits)
      return cimages_fail(failure, cimages_unsupported, "the planes have unsupported or different bit depths");
    planes->planes[index] = (const uint16_t *)plane;
    planes->strides[index] = (size_t)stride;
  }
  return read_alpha(self, planes, failure);
}

static enum cimages_status read_planes(struct cimages_reader *reader, struct cimages_planes *planes,
                                       struct cimages_failure *failure) {
  struct heif_file *self = (struct heif_file *)reader;
  enum cimages_status status = decode(self, heif_colorspace_YCbCr, heif_chroma_420, 0, failure);
  if (status == cimages_ok) status = find_planes(self, planes, failure);
  // For rows, the image is decoded in another way.
  if (status != cimages_ok && self->image) {
    heif_image_release(self->image);
    self->image = NULL;
  }
  return status;
}

static void close_heif(struct cimages_reader *reader) {
  struct heif_file *self = (struct heif_file *)reader;
  if (self->image) heif_image_release(self->image);
  if (self->primary) heif_image_handle_release(self->primary);
  if (self->context) heif_context_free(self->context);
  free(self->profile);
  free(self);
}

static enum cimages_status read_profile(struct heif_file *self, struct cimages_header *header,
                                        struct cimages_failure *failure) {
  const size_t count = heif_image_handle_get_raw_color_profile_size(self->primary);
  if (count > 0) {
    self->profile = malloc(count);
    if (!self->profile) return cimages_fail(failure, cimages_out_of_memory, "out of memory for the colour profile");
    const struct heif_error error = heif_image_handle_get_raw_color_profile(self->primary, self->profile);
    if (error.code != heif_error_Ok) return fail(failure, error);
    self->reader.profile = self->profile;
    self->reader.profile_count = count;
  }
  struct heif_color_profile_nclx *nclx = NULL;
  if (heif_image_handle_get_nclx_color_profile(self->primary, &nclx).code == heif_error_Ok && nclx) {
    header->primaries = nclx->color_primaries;
    header->transfer = nclx->transfer_characteristics;
    header->matrix = nclx->matrix_coefficients;
    header->is_full_range = nclx->full_range_flag;
    heif_nclx_color_profile_free(nclx);
  }
  return cimages_ok;
}

static enum cimages_status read_header(struct heif_file *self, const uint8_t *bytes, size_t count, uint64_t pixels,
                                       struct cimages_header *header, struct cimages_failure *failure) {
  self->context = heif_context_alloc();
  if (!self->context) return cimages_fail(failure, cimages_out_of_memory, "out of memory for libheif");
  heif_context_set_max_decoding_threads(self->context, 0);
  struct heif_error error = heif_context_read_from_memory_without_copy(self->context, bytes, count, NULL);
  if (error.code == heif_error_Ok) error = heif_context_get_primary_image_handle(self->context, &self->primary);
  if (error.code != heif_error_Ok) return fail(failure, error);
  const int width = heif_image_handle_get_width(self->primary);
  const int height = heif_image_handle_get_height(self->primary);
  if (width <= 0 || height <= 0) return cimages_fail(failure, cimages_malformed, "the width or the height is 0");
  if (cimages_check_size(failure, (uint32_t)width, (uint32_t)height, pixels, 0) != cimages_ok) return failure->status;
  self->width = (uint32_t)width;
  self->height = (uint32_t)height;
  *header = (struct cimages_header){
      .width = self->width,
      .height = self->height,
      .bits = heif_image_handle_get_luma_bits_per_pixel(self->primary),
      .has_alpha = heif_image_handle_has_alpha_channel(self->primary),
      .primaries = 2,
      .transfer = 2,
      .matrix = 2,
      .is_full_range = 1,
  };
  return read_profile(self, header, failure);
}

enum cimages_status cimages_open_heif(const uint8_t *bytes, size_t count, uint64_t pixels,
                                      struct cimages_reader **reader, struct cimages_header *header,
                                      struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  struct heif_file *self = calloc(1, sizeof *self);
  if (!self) return cimages_fail(failure, cimages_out_of_memory, "out of memory for a reader");
  self->reader = (struct cimages_reader){.read = read_heif, .read_planes = read_planes, .close = close_heif};
  if (read_header(self, bytes, count, pixels, header, failure) == cimages_ok)
    *reader = &self->reader;
  else
    close_heif(&self->reader);
  return failure->status;
}

/// A growing buffer for an encoded image.
struct output {
  uint8_t *bytes;
  size_t count;
};

static struct heif_error take_bytes(struct heif_context *context, const void *data, size_t count, void *user) {
  (void)context;
  struct output *output = user;
  uint8_t *bytes = realloc(output->bytes, output->count + count);
  if (!bytes)
    return (struct heif_error){heif_error_Memory_allocation_error, heif_suberror_Unspecified, "out of memory"};
  memcpy(bytes + output->count, data, count);
  output->bytes = bytes;
  output->count += count;
  return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, "ok"};
}

static struct heif_error encode_avif(struct heif_context *context, struct heif_encoder *encoder,
                                     struct heif_image *image, const uint8_t *rows, size_t stride, uint32_t width,
                                     uint32_t height, int quality) {
  struct heif_error error =
      heif_image_add_plane(image, heif_channel_interleaved, (int)width, (int)height, 8);
  if (error.code != heif_error_Ok) return error;
  int target_stride;
  uint8_t *target = heif_image_get_plane(image, heif_channel_interleaved, &target_stride);
  for (uint32_t row = 0; row < height; row++)
    memcpy(target + (size_t)row * (size_t)target_stride, rows + row * stride, 3 * (size_t)width);
  heif_encoder_set_lossy_quality(encoder, quality);
  // The bytes depend on the number of threads.
  heif_encoder_set_parameter_integer(encoder, "threads", 1);
  return heif_context_encode_image(context, image, encoder, NULL, NULL);
}

enum cimages_status cimages_encode_avif(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
                                        int quality, uint8_t **bytes, size_t *count, struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  struct heif_context *context = heif_context_alloc();
  struct heif_encoder *encoder = NULL;
  struct heif_image *image = NULL;
  struct output output = {0};
  if (!context) return cimages_fail(failure, cimages_out_of_memory, "out of memory for libheif");
  struct heif_error error = heif_context_get_encoder_for_format(context, heif_compression_AV1, &encoder);
  if (error.code == heif_error_Ok)
    error = heif_image_create((int)width, (int)height, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
  if (error.code == heif_error_Ok)
    error = encode_avif(context, encoder, image, rows, stride, width, height, quality);
  if (error.code == heif_error_Ok) {
    struct heif_writer writer = {.writer_api_version = 1, .write = take_bytes};
    error = heif_context_write(context, &writer, &output);
  }
  if (error.code != heif_error_Ok) fail(failure, error);
  if (image) heif_image_release(image);
  if (encoder) heif_encoder_release(encoder);
  heif_context_free(context);
  if (failure->status != cimages_ok) {
    free(output.bytes);
    return failure->status;
  }
  *bytes = output.bytes;
  *count = output.count;
  return cimages_ok;
}

void cimages_start_heif(void) { heif_init(NULL); }

int cimages_decodes_heif(int is_avif) {
  return heif_have_decoder_for_format(is_avif ? heif_compression_AV1 : heif_compression_HEVC);
}

int cimages_encodes_avif(void) { return heif_have_encoder_for_format(heif_compression_AV1); }
