#include <string.h>

#include "CKernels.h"

// Thirty-two bytes as sixteen pairs: the compiler maps this to the vectors of the processor.
typedef uint16_t pairs __attribute__((vector_size(32)));
typedef uint8_t bytes __attribute__((vector_size(16)));

// The warning is about the ABI of vector arguments; the helpers below are always inlined, so no call passes one.
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE static inline __attribute__((always_inline))

INLINE pairs load(const uint8_t *source) {
  pairs value;
  memcpy(&value, source, sizeof value);
  return value;
}

// The sum of the two bytes of each pair, in either byte order.
INLINE pairs sum(pairs value) { return (value & 0xFF) + (value >> 8); }

INLINE void halve(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                  size_t width, size_t height) {
  for (size_t y = 0; y < height; y++) {
    const uint8_t *upper = source + 2 * (ptrdiff_t)y * source_stride;
    const uint8_t *lower = upper + source_stride;
    uint8_t *row = target + (ptrdiff_t)y * target_stride;
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
      const pairs four = sum(load(upper + 2 * x)) + sum(load(lower + 2 * x)) + 2;
      const bytes means = __builtin_convertvector(four >> 2, bytes);
      memcpy(row + x, &means, sizeof means);
    }
    for (; x < width; x++) {
      row[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void halve_avx2(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target,
                                                       ptrdiff_t target_stride, size_t width, size_t height) {
  halve(source, source_stride, target, target_stride, width, height);
}
#endif

void ckernels_halve(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                    size_t width, size_t height, int portable) {
#if defined(__x86_64__)
  if (!portable && __builtin_cpu_supports("avx2"))
    return halve_avx2(source, source_stride, target, target_stride, width, height);
#else
  (void)portable;
#endif
  halve(source, source_stride, target, target_stride, width, height);
}
