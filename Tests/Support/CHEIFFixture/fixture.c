#include "CHEIFFixture.h"

#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

struct output {
  uint8_t *bytes;
  size_t count;
};

static struct heif_error take(struct heif_context *context, const void *data, size_t size, void *pointer) {
  (void)context;
  struct output *output = pointer;
  output->bytes = malloc(size);
  if (output->bytes) memcpy(output->bytes, data, size);
  output->count = output->bytes ? size : 0;
  return (struct heif_error){.code = output->bytes ? heif_error_Ok : heif_error_Memory_allocation_error};
}

int cheiffixture_encode(const uint8_t *rows, uint32_t width, uint32_t height, int quality, uint8_t **bytes,
                        size_t *count) {
  struct heif_context *context = heif_context_alloc();
  struct heif_encoder *encoder = NULL;
  struct heif_image *image = NULL;
  struct output output = {0};
  struct heif_error error = heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder);
  if (error.code == heif_error_Ok)
    error = heif_image_create((int)width, (int)height, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
  if (error.code == heif_error_Ok)
    error = heif_image_add_plane(image, heif_channel_interleaved, (int)width, (int)height, 8);
  if (error.code == heif_error_Ok) {
    int stride;
    uint8_t *plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (uint32_t row = 0; row < height; row++)
      memcpy(plane + (size_t)row * (size_t)stride, rows + (size_t)row * 3 * width, 3 * (size_t)width);
    heif_encoder_set_lossy_quality(encoder, quality);
    error = heif_context_encode_image(context, image, encoder, NULL, NULL);
  }
  if (error.code == heif_error_Ok) {
    struct heif_writer writer = {.writer_api_version = 1, .write = take};
    error = heif_context_write(context, &writer, &output);
  }
  if (image) heif_image_release(image);
  if (encoder) heif_encoder_release(encoder);
  heif_context_free(context);
  *bytes = output.bytes;
  *count = output.count;
  return error.code == heif_error_Ok ? 0 : -1;
}
