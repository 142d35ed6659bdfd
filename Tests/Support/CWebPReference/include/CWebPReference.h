#pragma once

#include <stddef.h>
#include <stdint.h>

// libwebpdemux as the judge of an encoder of animations.

/// The frames of an animated WebP, each as the whole canvas shows it.
struct cwebpreference_animation {
  int width, height;
  int loops;       // 0 without end
  int count;       // of the frames
  int ends[1024];  // of each frame, in milliseconds from the start
  uint8_t *pixels; // 32-bit RGBA without padding, frame by frame; free it
};

/// Decodes all frames, at most 1024. Returns nonzero on failure.
int cwebpreference_decode(const uint8_t *bytes, size_t count, struct cwebpreference_animation *animation);
