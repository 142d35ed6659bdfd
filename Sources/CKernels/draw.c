#include <string.h>

#include "CKernels.h"

// The division by 255 is rounded to the nearest and exact for every product of two bytes.
static inline uint8_t blend(uint8_t below, uint8_t above, uint8_t coverage) {
  return (uint8_t)(((below * (255u - coverage) + above * (uint32_t)coverage + 128) * 257) >> 16);
}

void ckernels_draw_rounded(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                           size_t width, size_t height, const uint8_t *coverage, size_t side) {
  for (size_t y = 0; y < height; y++) {
    const uint8_t *above = source + (ptrdiff_t)y * source_stride;
    uint8_t *below = target + (ptrdiff_t)y * target_stride;
    const size_t edge = y < height - 1 - y ? y : height - 1 - y;
    if (edge >= side) {
      memcpy(below, above, width);
      continue;
    }
    const uint8_t *row = coverage + edge * side;
    for (size_t x = 0; x < side; x++) {
      const size_t opposite = width - 1 - x;
      below[x] = blend(below[x], above[x], row[x]);
      below[opposite] = blend(below[opposite], above[opposite], row[x]);
    }
    memcpy(below + side, above + side, width - 2 * side);
  }
}
