#include <string.h>

#include "CKernels.h"

// Weights are 14-bit fractions with a sum of one; 255 times the sum of their magnitudes fits into 32 bits.
enum { fraction_bits = 14, half = 1 << (fraction_bits - 1) };

static uint8_t clamped(int32_t sum) {
  const int32_t value = (sum + half) >> fraction_bits;
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void weigh_portable(const uint8_t *const *rows, const int16_t *weights, size_t taps, uint8_t *target,
                           size_t from, size_t count) {
  for (size_t x = from; x < count; x++) {
    int32_t sum = 0;
    for (size_t tap = 0; tap < taps; tap++) sum += rows[tap][x] * weights[tap];
    target[x] = clamped(sum);
  }
}

#if defined(__x86_64__)
#include <immintrin.h>

// Two rows at a time: their bytes are interleaved and widened, and each pair is multiplied by a pair of weights and
// added. Unpacking reorders the bytes within the halves of a vector, and packing restores their order.
__attribute__((target("avx2"))) static size_t weigh_avx2(const uint8_t *const *rows, const int16_t *weights, size_t taps,
                                                         uint8_t *target, size_t count) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i rounding = _mm256_set1_epi32(half);
  size_t x = 0;
  for (; x + 32 <= count; x += 32) {
    __m256i a = rounding, b = rounding, c = rounding, d = rounding;
    for (size_t tap = 0; tap < taps; tap += 2) {
      const int has_second = tap + 1 < taps;
      const __m256i first = _mm256_loadu_si256((const __m256i *)(rows[tap] + x));
      const __m256i second = has_second ? _mm256_loadu_si256((const __m256i *)(rows[tap + 1] + x)) : zero;
      const uint32_t pair =
          (uint16_t)weights[tap] | (has_second ? (uint32_t)(uint16_t)weights[tap + 1] << 16 : 0);
      const __m256i weight = _mm256_set1_epi32((int)pair);
      const __m256i low = _mm256_unpacklo_epi8(first, second);
      const __m256i high = _mm256_unpackhi_epi8(first, second);
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), weight));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), weight));
      c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), weight));
      d = _mm256_add_epi32(d, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), weight));
    }
    const __m256i low = _mm256_packs_epi32(_mm256_srai_epi32(a, fraction_bits), _mm256_srai_epi32(b, fraction_bits));
    const __m256i high = _mm256_packs_epi32(_mm256_srai_epi32(c, fraction_bits), _mm256_srai_epi32(d, fraction_bits));
    _mm256_storeu_si256((__m256i *)(target + x), _mm256_packus_epi16(low, high));
  }
  return x;
}
#endif

void ckernels_weigh_rows(const uint8_t *const *rows, const int16_t *weights, size_t taps, uint8_t *target, size_t count,
                         int portable) {
  size_t done = 0;
#if defined(__x86_64__)
  if (!portable && __builtin_cpu_supports("avx2")) done = weigh_avx2(rows, weights, taps, target, count);
#else
  (void)portable;
#endif
  weigh_portable(rows, weights, taps, target, done, count);
}

void ckernels_resample_strip(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                           size_t width, const struct ckernels_filter *filter, int portable) {
  const uint8_t *rows[CKERNELS_MAX_TAPS];
  for (size_t row = 0; row < filter->count; row++) {
    for (size_t tap = 0; tap < filter->taps; tap++)
      rows[tap] = source + (ptrdiff_t)(filter->starts[row] + tap) * source_stride;
    ckernels_weigh_rows(rows, filter->weights + row * filter->taps, filter->taps,
                        target + (ptrdiff_t)row * target_stride, width, portable);
  }
}
