#include <stdlib.h>
#include <string.h>

#include <webp/demux.h>

#include "CWebPReference.h"

int cwebpreference_decode(const uint8_t *bytes, size_t count, struct cwebpreference_animation *animation) {
  *animation = (struct cwebpreference_animation){0};
  const WebPData data = {.bytes = bytes, .size = count};
  WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, NULL);
  if (!decoder) return 1;
  WebPAnimInfo info;
  int is_good = WebPAnimDecoderGetInfo(decoder, &info) && info.frame_count <= 1024;
  const size_t size = is_good ? 4 * (size_t)info.canvas_width * info.canvas_height : 0;
  if (is_good) {
    animation->width = (int)info.canvas_width;
    animation->height = (int)info.canvas_height;
    animation->loops = (int)info.loop_count;
    animation->pixels = malloc(size * info.frame_count);
    is_good = animation->pixels != NULL;
  }
  while (is_good && WebPAnimDecoderHasMoreFrames(decoder)) {
    uint8_t *canvas;
    is_good = animation->count < (int)info.frame_count &&
              WebPAnimDecoderGetNext(decoder, &canvas, &animation->ends[animation->count]);
    if (is_good) memcpy(animation->pixels + size * (size_t)animation->count++, canvas, size);
  }
  WebPAnimDecoderDelete(decoder);
  if (!is_good) {
    free(animation->pixels);
    animation->pixels = NULL;
  }
  return !is_good;
}
