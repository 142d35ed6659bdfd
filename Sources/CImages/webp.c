#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include "reader.h"

struct webp_reader {
  struct cimages_reader reader;
  const uint8_t *bytes;
  size_t count;
  WebPDemuxer *demuxer;
  WebPChunkIterator profile;
  WebPChunkIterator exif;
  WebPAnimDecoder *animation;  // owns the pixels of an animated image
  uint8_t *decoded;            // the pixels of any other image
  struct cimages_pixels pixels;
  int is_animated;
};

static enum cimages_status decode_still(struct webp_reader *self, struct cimages_failure *failure) {
  struct cimages_pixels *pixels = &self->pixels;
  const size_t size = pixels->stride * pixels->height;
  self->decoded = malloc(size);
  if (!self->decoded) return cimages_fail(failure, cimages_out_of_memory, "out of memory for the image");
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = (WebPRGBABuffer){.rgba = self->decoded, .stride = (int)pixels->stride, .size = size};
  switch (WebPDecode(self->bytes, self->count, &config)) {
    case VP8_STATUS_OK: break;
    case VP8_STATUS_OUT_OF_MEMORY: return cimages_fail(failure, cimages_out_of_memory, "out of memory for libwebp");
    case VP8_STATUS_NOT_ENOUGH_DATA: return cimages_fail(failure, cimages_truncated, "the data end too early");
    case VP8_STATUS_UNSUPPORTED_FEATURE: return cimages_fail(failure, cimages_unsupported, "an unsupported feature");
    default: return cimages_fail(failure, cimages_malformed, "the bitstream is damaged");
  }
  pixels->bytes = self->decoded;
  return cimages_ok;
}

static enum cimages_status decode_first(struct webp_reader *self, struct cimages_failure *failure) {
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  options.color_mode = MODE_RGBA;
  const WebPData data = {.bytes = self->bytes, .size = self->count};
  self->animation = WebPAnimDecoderNew(&data, &options);
  uint8_t *canvas;
  int time;
  if (!self->animation || !WebPAnimDecoderGetNext(self->animation, &canvas, &time))
    return cimages_fail(failure, cimages_malformed, "the first frame is damaged");
  self->pixels.bytes = canvas;
  return cimages_ok;
}

static enum cimages_status read_webp(struct cimages_reader *reader, uint8_t *rows, size_t stride, uint32_t row_count,
                                     struct cimages_failure *failure) {
  struct webp_reader *self = (struct webp_reader *)reader;
  if (!self->pixels.bytes) {
    const enum cimages_status status = self->is_animated ? decode_first(self, failure) : decode_still(self, failure);
    if (status != cimages_ok) return status;
  }
  if (!cimages_copy_rows(&self->pixels, rows, stride, row_count))
    return cimages_fail(failure, cimages_malformed, "the image has no more rows");
  return cimages_ok;
}

static void close_webp(struct cimages_reader *reader) {
  struct webp_reader *self = (struct webp_reader *)reader;
  WebPAnimDecoderDelete(self->animation);
  WebPDemuxReleaseChunkIterator(&self->profile);
  WebPDemuxReleaseChunkIterator(&self->exif);
  WebPDemuxDelete(self->demuxer);
  free(self->decoded);
  free(self);
}

static enum cimages_status read_header(struct webp_reader *self, uint64_t pixels, struct cimages_header *header,
                                       struct cimages_failure *failure) {
  WebPBitstreamFeatures features;
  switch (WebPGetFeatures(self->bytes, self->count, &features)) {
    case VP8_STATUS_OK: break;
    case VP8_STATUS_NOT_ENOUGH_DATA: return cimages_fail(failure, cimages_truncated, "the header is truncated");
    default: return cimages_fail(failure, cimages_malformed, "the header is damaged");
  }
  if (cimages_check_size(failure, (uint32_t)features.width, (uint32_t)features.height, pixels, 0) != cimages_ok)
    return failure->status;
  const WebPData data = {.bytes = self->bytes, .size = self->count};
  WebPDemuxState state;
  self->demuxer = WebPDemuxPartial(&data, &state);
  if (!self->demuxer || state == WEBP_DEMUX_PARSE_ERROR)
    return cimages_fail(failure, cimages_malformed, "the chunks are inconsistent");
  if (state != WEBP_DEMUX_DONE) return cimages_fail(failure, cimages_truncated, "the data end too early");
  if (WebPDemuxGetChunk(self->demuxer, "ICCP", 1, &self->profile)) {
    self->reader.profile = self->profile.chunk.bytes;
    self->reader.profile_count = self->profile.chunk.size;
  }
  if (WebPDemuxGetChunk(self->demuxer, "EXIF", 1, &self->exif)) {
    self->reader.exif = self->exif.chunk.bytes;
    self->reader.exif_count = self->exif.chunk.size;
  }
  self->is_animated = features.has_animation;
  self->pixels = (struct cimages_pixels){
      .stride = 4 * (size_t)features.width,
      .width = (uint32_t)features.width,
      .height = (uint32_t)features.height,
  };
  *header = (struct cimages_header){
      .width = (uint32_t)features.width,
      .height = (uint32_t)features.height,
      .bits = 8,
      .has_alpha = features.has_alpha,
      .is_animated = features.has_animation,
      .primaries = 2,
      .transfer = 2,
      .matrix = 2,
      .is_full_range = 1,
  };
  return cimages_ok;
}

enum cimages_status cimages_open_webp(const uint8_t *bytes, size_t count, uint64_t pixels,
                                      struct cimages_reader **reader, struct cimages_header *header,
                                      struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  struct webp_reader *self = calloc(1, sizeof *self);
  if (!self) return cimages_fail(failure, cimages_out_of_memory, "out of memory for a reader");
  self->reader = (struct cimages_reader){.read = read_webp, .close = close_webp};
  self->bytes = bytes;
  self->count = count;
  if (read_header(self, pixels, header, failure) == cimages_ok)
    *reader = &self->reader;
  else
    close_webp(&self->reader);
  return failure->status;
}

enum cimages_status cimages_encode_webp(const uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
                                        int quality, uint8_t **bytes, size_t *count, struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  uint8_t *encoded = NULL;
  *count = WebPEncodeRGB(rows, (int)width, (int)height, (int)stride, (float)quality, &encoded);
  if (*count == 0) return cimages_fail(failure, cimages_out_of_memory, "libwebp cannot encode the image");
  // libwebp's memory must be freed by WebPFree; the caller frees memory of malloc.
  *bytes = malloc(*count);
  if (*bytes) memcpy(*bytes, encoded, *count);
  WebPFree(encoded);
  return *bytes ? cimages_ok : cimages_fail(failure, cimages_out_of_memory, "out of memory for the encoded image");
}
