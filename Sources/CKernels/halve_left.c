#include <string.h>

#include "CKernels.h"

// As in halve.c: sixteen bytes as eight pairs, whose sums do not depend on the byte order.
typedef uint16_t pairs __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(8)));

static inline pairs sums(const uint8_t *source) {
  pairs value;
  memcpy(&value, source, sizeof value);
  return (value & 0xFF) + (value >> 8);
}

// The pairs (2x - 1, 2x) and (2x, 2x + 1) together are the weights 1, 2, 1 around the byte at 2x.
static inline unsigned one(const uint8_t *row, size_t x) {
  return row[x == 0 ? 0 : 2 * x - 1] + 2u * row[2 * x] + row[2 * x + 1];
}

void ckernels_halve_left(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                         size_t width, size_t height) {
  for (size_t y = 0; y < height; y++) {
    const uint8_t *upper = source + 2 * (ptrdiff_t)y * source_stride;
    const uint8_t *lower = upper + source_stride;
    uint8_t *row = target + (ptrdiff_t)y * target_stride;
    size_t x = 0;
    for (; x < width && x < 1; x++) row[x] = (uint8_t)((one(upper, x) + one(lower, x) + 4) >> 3);
    for (; x + 8 <= width; x += 8) {
      const uint8_t *above = upper + 2 * x, *below = lower + 2 * x;
      const pairs eight = sums(above - 1) + sums(above) + sums(below - 1) + sums(below) + 4;
      const bytes means = __builtin_convertvector(eight >> 3, bytes);
      memcpy(row + x, &means, sizeof means);
    }
    for (; x < width; x++) row[x] = (uint8_t)((one(upper, x) + one(lower, x) + 4) >> 3);
  }
}
