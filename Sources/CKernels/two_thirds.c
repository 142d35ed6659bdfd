#include <stdlib.h>
#include <string.h>

#include "CKernels.h"

// Three samples become two. The first is a quarter of a sample after the first of the three, the second is its mirror
// image. The four weights, in units of 1/128, are a least-squares fit to a low-pass filter at the target's Nyquist
// frequency, for a 1/f spectrum: flat within 1 % up to a tenth of the source's sample rate and 8 % down at a fifth,
// where bicubic is 9 % down.
enum { before = 5, near_ = 80, far = 57, beyond = -14 };

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint8_t bytes32 __attribute__((vector_size(32)));
typedef uint16_t words16 __attribute__((vector_size(32)));
typedef int16_t shorts16 __attribute__((vector_size(32)));

// The warning is about the ABI of vector arguments; the helpers below are always inlined, so no call passes one.
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE static inline __attribute__((always_inline))

INLINE words16 widen(const uint8_t *source) {
  bytes16 value;
  memcpy(&value, source, sizeof value);
  return __builtin_convertvector(value, words16);
}

// The weighted sum is between -14 * 255 and 142 * 255: with this bias it is never negative and fits into 16 bits.
enum { bias = 28, rounding = bias * 128 + 64 };

INLINE bytes16 filter(words16 a, words16 b, words16 c, words16 d) {
  const words16 sum = a * before + b * near_ + c * far - d * (uint16_t)-beyond + rounding;
  const shorts16 min = {0}, max = min + 255;
  const shorts16 value = (shorts16)(sum >> 7) - bias;
  return __builtin_convertvector(__builtin_elementwise_min(__builtin_elementwise_max(value, min), max), bytes16);
}

INLINE uint8_t filter_one(int a, int b, int c, int d) {
  const int value = ((a * before + b * near_ + c * far + d * beyond + rounding) >> 7) - bias;
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

INLINE void filter_rows(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, uint8_t *target,
                        size_t width) {
  size_t x = 0;
  for (; x + 16 <= width; x += 16) {
    const bytes16 value = filter(widen(a + x), widen(b + x), widen(c + x), widen(d + x));
    memcpy(target + x, &value, sizeof value);
  }
  for (; x < width; x++) target[x] = filter_one(a[x], b[x], c[x], d[x]);
}

// Separates a row into the first, second and third samples of each three.
INLINE void separate(const uint8_t *row, uint8_t *first, uint8_t *second, uint8_t *third, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    bytes16 p, q, r;
    memcpy(&p, row + 3 * i, 16);
    memcpy(&q, row + 3 * i + 16, 16);
    memcpy(&r, row + 3 * i + 32, 16);
    const bytes16 pq0 = __builtin_shufflevector(p, q, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
    const bytes16 pq1 = __builtin_shufflevector(p, q, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
    const bytes16 pq2 = __builtin_shufflevector(p, q, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
    const bytes16 a = __builtin_shufflevector(pq0, r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
    const bytes16 b = __builtin_shufflevector(pq1, r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30);
    const bytes16 c = __builtin_shufflevector(pq2, r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31);
    memcpy(first + i, &a, 16);
    memcpy(second + i, &b, 16);
    memcpy(third + i, &c, 16);
  }
  for (; i < count; i++) {
    first[i] = row[3 * i];
    second[i] = row[3 * i + 1];
    third[i] = row[3 * i + 2];
  }
}

// `third` has one sample before its first and `first` has one after its last: they repeat the edges of the row.
INLINE void filter_columns(const uint8_t *first, const uint8_t *second, const uint8_t *third, uint8_t *target,
                           size_t count) {
  const uint8_t *previous = third - 1;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const words16 a = widen(first + i), b = widen(second + i), c = widen(third + i);
    const bytes16 left = filter(widen(previous + i), a, b, c), right = filter(widen(first + i + 1), c, b, a);
    const bytes32 both =
        __builtin_shufflevector(left, right, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10,
                                26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    memcpy(target + 2 * i, &both, sizeof both);
  }
  for (; i < count; i++) {
    target[2 * i] = filter_one(previous[i], first[i], second[i], third[i]);
    target[2 * i + 1] = filter_one(first[i + 1], third[i], second[i], first[i]);
  }
}

INLINE void two_thirds(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                       size_t width, size_t height, uint8_t *scratch) {
  const size_t columns = width / 2, rows = height / 2 * 3;
  uint8_t *row = scratch, *first = row + 3 * columns, *second = first + columns + 1, *third = second + columns + 1;
  for (size_t y = 0; y < height; y++) {
    // The second of two rows is the first one with the source read upwards.
    const ptrdiff_t step = y % 2 == 0 ? source_stride : -source_stride;
    const size_t nearest = y / 2 * 3 + (y % 2 == 0 ? 0 : 2);
    const uint8_t *near_row = source + (ptrdiff_t)nearest * source_stride;
    const int at_edge = nearest == 0 || nearest == rows - 1;
    filter_rows(at_edge ? near_row : near_row - step, near_row, near_row + step, near_row + 2 * step, row, 3 * columns);
    separate(row, first, second, third, columns);
    first[columns] = third[columns - 1];
    third[-1] = first[0];
    filter_columns(first, second, third, target + (ptrdiff_t)y * target_stride, columns);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void two_thirds_avx2(const uint8_t *source, ptrdiff_t source_stride,
                                                            uint8_t *target, ptrdiff_t target_stride, size_t width,
                                                            size_t height, uint8_t *scratch) {
  two_thirds(source, source_stride, target, target_stride, width, height, scratch);
}
#endif

int ckernels_two_thirds(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                        size_t width, size_t height, int portable) {
  uint8_t *scratch = malloc(6 * (width / 2) + 64);
  if (scratch == NULL) return -1;
#if defined(__x86_64__)
  if (!portable && __builtin_cpu_supports("avx2")) {
    two_thirds_avx2(source, source_stride, target, target_stride, width, height, scratch);
    free(scratch);
    return 0;
  }
#endif
  two_thirds(source, source_stride, target, target_stride, width, height, scratch);
  free(scratch);
  return 0;
}
