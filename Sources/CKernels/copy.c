#include <string.h>

#include "CKernels.h"

void ckernels_copy(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                   size_t width, size_t height) {
  for (size_t y = 0; y < height; y++)
    memcpy(target + (ptrdiff_t)y * target_stride, source + (ptrdiff_t)y * source_stride, width);
}

void ckernels_copy_mirrored(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                            size_t width, size_t height) {
  for (size_t y = 0; y < height; y++) {
    const uint8_t *from = source + (ptrdiff_t)y * source_stride;
    uint8_t *to = target + (ptrdiff_t)y * target_stride;
    size_t x = 0;
    // Baseline x86-64 cannot shuffle bytes in vectors: reversing eight at a time in a general register is fastest.
    for (; x + 8 <= width; x += 8) {
      uint64_t eight;
      memcpy(&eight, from + (width - 8 - x), 8);
      eight = __builtin_bswap64(eight);
      memcpy(to + x, &eight, 8);
    }
    for (; x < width; x++) to[x] = from[width - 1 - x];
  }
}

void ckernels_fill(uint8_t *target, ptrdiff_t target_stride, size_t width, size_t height, uint8_t value) {
  for (size_t y = 0; y < height; y++) memset(target + (ptrdiff_t)y * target_stride, value, width);
}
