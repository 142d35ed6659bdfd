#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

#include "reader.h"

struct cimages_animation {
  WebPAnimEncoder *encoder;
  WebPConfig config;
  int width, height;
};

// 0 to 6. A higher method takes twice the time for a few per cent of the size.
enum { animation_method = 2 };

enum cimages_status cimages_start_animation(uint32_t width, uint32_t height, int quality,
                                            struct cimages_animation **animation, struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  struct cimages_animation *self = calloc(1, sizeof *self);
  if (!self) return cimages_fail(failure, cimages_out_of_memory, "out of memory for an animation");
  self->width = (int)width;
  self->height = (int)height;
  WebPAnimEncoderOptions options;
  if (WebPConfigInit(&self->config) && WebPAnimEncoderOptionsInit(&options)) {
    self->config.quality = (float)quality;
    self->config.method = animation_method;
    // What no frame covers is transparent, also for a decoder that draws this colour.
    options.anim_params.bgcolor = 0;
    self->encoder = WebPAnimEncoderNew(self->width, self->height, &options);
  }
  if (!self->encoder) {
    free(self);
    return cimages_fail(failure, cimages_out_of_memory, "libwebpmux cannot make an encoder");
  }
  *animation = self;
  return cimages_ok;
}

enum cimages_status cimages_add_frame(struct cimages_animation *self, const uint8_t *rows, uint32_t width,
                                      uint32_t height, int start, struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  WebPPicture picture;
  if (!WebPPictureInit(&picture)) return cimages_fail(failure, cimages_unsupported, "another version of libwebp");
  picture.use_argb = 1;
  picture.width = (int)width;
  picture.height = (int)height;
  // The reduction multiplies colours by alpha and divides them again: what is transparent colours no edge.
  const int is_reduced = picture.width != self->width || picture.height != self->height;
  // The sizes are checked: nothing but memory can be missing for these, and not each version of libwebp says so.
  if (!WebPPictureImportRGBA(&picture, rows, 4 * picture.width) ||
      (is_reduced && !WebPPictureRescale(&picture, self->width, self->height))) {
    cimages_fail(failure, cimages_out_of_memory, "out of memory for a frame");
  } else if (!WebPAnimEncoderAdd(self->encoder, &picture, start, &self->config)) {
    const int is_out_of_memory = picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY;
    cimages_fail(failure, is_out_of_memory ? cimages_out_of_memory : cimages_malformed,
                 WebPAnimEncoderGetError(self->encoder));
  }
  WebPPictureFree(&picture);
  return failure->status;
}

enum cimages_status cimages_finish_animation(struct cimages_animation *self, int end, uint8_t **bytes, size_t *count,
                                             struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  WebPData data;
  WebPDataInit(&data);
  if (!WebPAnimEncoderAdd(self->encoder, NULL, end, NULL) || !WebPAnimEncoderAssemble(self->encoder, &data)) {
    // What cannot be made smaller at the end is assembled already.
    WebPDataClear(&data);
    return cimages_fail(failure, cimages_malformed, WebPAnimEncoderGetError(self->encoder));
  }
  // libwebp's memory must be freed by libwebp; the caller frees memory of malloc.
  *bytes = malloc(data.size);
  *count = data.size;
  if (*bytes) memcpy(*bytes, data.bytes, data.size);
  WebPDataClear(&data);
  return *bytes ? cimages_ok : cimages_fail(failure, cimages_out_of_memory, "out of memory for the animation");
}

void cimages_close_animation(struct cimages_animation *self) {
  if (!self) return;
  WebPAnimEncoderDelete(self->encoder);
  free(self);
}
