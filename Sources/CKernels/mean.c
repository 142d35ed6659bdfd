#include <stdlib.h>

#include "CKernels.h"

// Inlined, so that the compiler unrolls the loops for a constant `side`.
static inline __attribute__((always_inline)) void mean(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target,
                                                       ptrdiff_t target_stride, size_t width, size_t height,
                                                       size_t side, uint16_t *columns) {
  const uint32_t area = (uint32_t)(side * side);
  for (size_t y = 0; y < height; y++) {
    const uint8_t *first = source + (ptrdiff_t)(y * side) * source_stride;
    uint8_t *means = target + (ptrdiff_t)y * target_stride;
    for (size_t x = 0; x < width * side; x++) columns[x] = first[x];
    for (size_t row = 1; row < side; row++) {
      const uint8_t *line = first + (ptrdiff_t)row * source_stride;
      for (size_t x = 0; x < width * side; x++) columns[x] = (uint16_t)(columns[x] + line[x]);
    }
    for (size_t x = 0; x < width; x++) {
      uint32_t sum = area / 2;
      for (size_t column = 0; column < side; column++) sum += columns[x * side + column];
      means[x] = (uint8_t)(sum / area);
    }
  }
}

int ckernels_mean(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                  size_t width, size_t height, size_t side) {
  uint16_t *columns = malloc(width * side * sizeof *columns);
  if (columns == NULL) return -1;
  switch (side) {
#define CASE(n) \
  case n: mean(source, source_stride, target, target_stride, width, height, n, columns); break;
    CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
    default: mean(source, source_stride, target, target_stride, width, height, side, columns);
  }
  free(columns);
  return 0;
}
