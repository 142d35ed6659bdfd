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

// The samples of one plane of 4:2:0, by the matrix of JPEG (JFIF 1.02), each the mean of the pixels that it stands for.
static void fill(struct heif_image *image, enum heif_channel channel, const uint8_t *rows, int width, int height,
                 int bits) {
  static const double weights[3][3] = {{0.299, 0.587, 0.114}, {-0.168736, -0.331264, 0.5}, {0.5, -0.418688, -0.081312}};
  int kind = channel == heif_channel_Y ? 0 : channel == heif_channel_Cb ? 1 : 2;
  int step = kind ? 2 : 1, stride;
  uint8_t *plane = heif_image_get_plane(image, channel, &stride);
  for (int y = 0; y < height; y += step) {
    for (int x = 0; x < width; x += step) {
      double sum = 0;
      for (int part = 0; part < step * step; part++) {
        int row = y + part / step < height ? y + part / step : height - 1;
        int column = x + part % step < width ? x + part % step : width - 1;
        const uint8_t *pixel = rows + 3 * ((size_t)row * (size_t)width + (size_t)column);
        for (int component = 0; component < 3; component++) sum += weights[kind][component] * pixel[component];
      }
      int max = (1 << bits) - 1;
      int value = (int)(sum / (step * step) / 255 * max + (kind ? max / 2 + 1 : 0) + 0.5);
      value = value < 0 ? 0 : value > max ? max : value;
      plane[y / step * stride + x / step * 2] = (uint8_t)(value & 255);
      plane[y / step * stride + x / step * 2 + 1] = (uint8_t)(value >> 8);
    }
  }
}

int cheiffixture_encode(const uint8_t *rows, uint32_t width, uint32_t height, int is_avif, int bits, int quality,
                        uint8_t **bytes, size_t *count) {
  struct heif_context *context = heif_context_alloc();
  struct heif_encoder *encoder = NULL;
  struct heif_image *image = NULL;
  struct output output = {0};
  struct heif_error error = heif_context_get_encoder_for_format(
      context, is_avif ? heif_compression_AV1 : heif_compression_HEVC, &encoder);
  if (error.code == heif_error_Ok)
    error = bits > 8
                ? heif_image_create((int)width, (int)height, heif_colorspace_YCbCr, heif_chroma_420, &image)
                : heif_image_create((int)width, (int)height, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
  if (error.code == heif_error_Ok && bits > 8) {
    const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    for (int index = 0; index < 3 && error.code == heif_error_Ok; index++) {
      int step = index ? 2 : 1;
      error = heif_image_add_plane(image, channels[index], ((int)width + step - 1) / step, ((int)height + step - 1) / step,
                                   bits);
      if (error.code == heif_error_Ok) fill(image, channels[index], rows, (int)width, (int)height, bits);
    }
  } else if (error.code == heif_error_Ok) {
    error = heif_image_add_plane(image, heif_channel_interleaved, (int)width, (int)height, 8);
    if (error.code == heif_error_Ok) {
      int stride;
      uint8_t *plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
      for (uint32_t row = 0; row < height; row++)
        memcpy(plane + (size_t)row * (size_t)stride, rows + (size_t)row * 3 * width, 3 * (size_t)width);
    }
  }
  if (error.code == heif_error_Ok) {
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
