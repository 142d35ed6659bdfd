// Forward DCT and quantisation for processors with AVX2: two blocks at once, one in each half of a register.

#include "internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

/// A helper that is inlined into cjpegcoder_transform_avx2.
#define AVX2_INLINE static inline __attribute__((always_inline)) CJPEGCODER_FAST_TARGET

/// The two shuffle indices of the 16-bit value at natural position `n` if it is in row `row`, else indices that give 0.
#define MOVE(row, n) ((n) / 8 == (row) ? (n) % 8 * 2 : 0x80), ((n) / 8 == (row) ? (n) % 8 * 2 + 1 : 0x80)
/// The shuffle that extracts from one row the values of a group of eight coefficients.
#define SHUFFLE(row, a, b, c, d, e, f, g, h) \
  {MOVE(row, a), MOVE(row, b), MOVE(row, c), MOVE(row, d), MOVE(row, e), MOVE(row, f), MOVE(row, g), MOVE(row, h)}
/// The shuffles of one group for all rows.
#define GROUP(...) \
  {SHUFFLE(0, __VA_ARGS__), SHUFFLE(1, __VA_ARGS__), SHUFFLE(2, __VA_ARGS__), SHUFFLE(3, __VA_ARGS__), \
   SHUFFLE(4, __VA_ARGS__), SHUFFLE(5, __VA_ARGS__), SHUFFLE(6, __VA_ARGS__), SHUFFLE(7, __VA_ARGS__)}

/// For each group of eight coefficients in descending zigzag order, the shuffles of all rows.
static const uint8_t descending_zigzag[8][8][16] = {
  GROUP(63, 62, 55, 47, 54, 61, 60, 53), GROUP(46, 39, 31, 38, 45, 52, 59, 58),
  GROUP(51, 44, 37, 30, 23, 15, 22, 29), GROUP(36, 43, 50, 57, 56, 49, 42, 35),
  GROUP(28, 21, 14, 7, 6, 13, 20, 27),   GROUP(34, 41, 48, 40, 33, 26, 19, 12),
  GROUP(5, 4, 11, 18, 25, 32, 24, 17),   GROUP(10, 3, 2, 9, 16, 8, 1, 0)};

/// Loads eight 16-bit values into both halves of a register.
AVX2_INLINE __m256i load_twice(const void *values) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)values));
}

/// Returns two factors for pairs of interleaved 16-bit values.
AVX2_INLINE __m256i factors(int even, int odd) {
  return _mm256_set1_epi32((int)((uint32_t)(uint16_t)even | (uint32_t)(uint16_t)odd << 16));
}

/// Transposes the 8 x 8 values of each half.
AVX2_INLINE void transpose(__m256i rows[8]) {
  __m256i a0 = _mm256_unpacklo_epi16(rows[0], rows[1]), a1 = _mm256_unpackhi_epi16(rows[0], rows[1]);
  __m256i a2 = _mm256_unpacklo_epi16(rows[2], rows[3]), a3 = _mm256_unpackhi_epi16(rows[2], rows[3]);
  __m256i a4 = _mm256_unpacklo_epi16(rows[4], rows[5]), a5 = _mm256_unpackhi_epi16(rows[4], rows[5]);
  __m256i a6 = _mm256_unpacklo_epi16(rows[6], rows[7]), a7 = _mm256_unpackhi_epi16(rows[6], rows[7]);
  __m256i b0 = _mm256_unpacklo_epi32(a0, a2), b1 = _mm256_unpackhi_epi32(a0, a2);
  __m256i b2 = _mm256_unpacklo_epi32(a1, a3), b3 = _mm256_unpackhi_epi32(a1, a3);
  __m256i b4 = _mm256_unpacklo_epi32(a4, a6), b5 = _mm256_unpackhi_epi32(a4, a6);
  __m256i b6 = _mm256_unpacklo_epi32(a5, a7), b7 = _mm256_unpackhi_epi32(a5, a7);
  rows[0] = _mm256_unpacklo_epi64(b0, b4), rows[1] = _mm256_unpackhi_epi64(b0, b4);
  rows[2] = _mm256_unpacklo_epi64(b1, b5), rows[3] = _mm256_unpackhi_epi64(b1, b5);
  rows[4] = _mm256_unpacklo_epi64(b2, b6), rows[5] = _mm256_unpackhi_epi64(b2, b6);
  rows[6] = _mm256_unpacklo_epi64(b3, b7), rows[7] = _mm256_unpackhi_epi64(b3, b7);
}

/// Shifts 32-bit sums right by `shift` bits with rounding and packs them to 16 bits.
AVX2_INLINE __m256i narrow(__m256i low, __m256i high, int shift) {
  __m256i half = _mm256_set1_epi32(1 << (shift - 1));
  low = _mm256_srai_epi32(_mm256_add_epi32(low, half), shift);
  high = _mm256_srai_epi32(_mm256_add_epi32(high, half), shift);
  return _mm256_packs_epi32(low, high);
}

/// Returns the rounded sum of the products of two pairs of interleaved values and their factors.
AVX2_INLINE __m256i combine(__m256i low_a, __m256i high_a, __m256i factors_a, __m256i low_b, __m256i high_b,
                            __m256i factors_b, int shift) {
  __m256i low = _mm256_add_epi32(_mm256_madd_epi16(low_a, factors_a), _mm256_madd_epi16(low_b, factors_b));
  __m256i high = _mm256_add_epi32(_mm256_madd_epi16(high_a, factors_a), _mm256_madd_epi16(high_b, factors_b));
  return narrow(low, high, shift);
}

/// One pass of the DCT over all columns, with the variable names of transform_eight in transform.c.
///
/// 16 bits are sufficient for every sum: the values of the first pass are within 8 * 128 * 4, so that the largest sum
/// of the second pass, of eight values, is within -32768...32512.
AVX2_INLINE void transform_columns(__m256i rows[8], bool first_pass) {
  __m256i sum0 = _mm256_add_epi16(rows[0], rows[7]), difference0 = _mm256_sub_epi16(rows[0], rows[7]);
  __m256i sum1 = _mm256_add_epi16(rows[1], rows[6]), difference1 = _mm256_sub_epi16(rows[1], rows[6]);
  __m256i sum2 = _mm256_add_epi16(rows[2], rows[5]), difference2 = _mm256_sub_epi16(rows[2], rows[5]);
  __m256i sum3 = _mm256_add_epi16(rows[3], rows[4]), difference3 = _mm256_sub_epi16(rows[3], rows[4]);

  __m256i outer_sum = _mm256_add_epi16(sum0, sum3), outer_difference = _mm256_sub_epi16(sum0, sum3);
  __m256i inner_sum = _mm256_add_epi16(sum1, sum2), inner_difference = _mm256_sub_epi16(sum1, sum2);
  int shift = first_pass ? 13 - 2 : 13 + 2;
  __m256i total = _mm256_add_epi16(outer_sum, inner_sum), contrast = _mm256_sub_epi16(outer_sum, inner_sum);
  __m256i two = _mm256_set1_epi16(2);
  rows[0] = first_pass ? _mm256_slli_epi16(total, 2) : _mm256_srai_epi16(_mm256_add_epi16(total, two), 2);
  rows[4] = first_pass ? _mm256_slli_epi16(contrast, 2) : _mm256_srai_epi16(_mm256_add_epi16(contrast, two), 2);

  __m256i low = _mm256_unpacklo_epi16(outer_difference, inner_difference);
  __m256i high = _mm256_unpackhi_epi16(outer_difference, inner_difference);
  __m256i second = factors(10703, 4433), sixth = factors(4433, -10704);
  rows[2] = narrow(_mm256_madd_epi16(low, second), _mm256_madd_epi16(high, second), shift);
  rows[6] = narrow(_mm256_madd_epi16(low, sixth), _mm256_madd_epi16(high, sixth), shift);

  __m256i low03 = _mm256_unpacklo_epi16(difference0, difference3);
  __m256i high03 = _mm256_unpackhi_epi16(difference0, difference3);
  __m256i low12 = _mm256_unpacklo_epi16(difference1, difference2);
  __m256i high12 = _mm256_unpackhi_epi16(difference1, difference2);
  rows[1] = combine(low03, high03, factors(11363, 2260), low12, high12, factors(9633, 6437), shift);
  rows[3] = combine(low03, high03, factors(9633, -6436), low12, high12, factors(-2259, -11362), shift);
  rows[5] = combine(low03, high03, factors(6437, 9633), low12, high12, factors(-11362, 2261), shift);
  rows[7] = combine(low03, high03, factors(2260, -11363), low12, high12, factors(-6436, 9633), shift);
}

/// Gathers one group of eight coefficients of each block from the rows that hold them.
AVX2_INLINE __m256i gather(const __m256i rows[8], int group, int first_row, int last_row) {
  __m256i result = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int row = first_row; row <= last_row; row++) {
    __m256i taken = _mm256_shuffle_epi8(rows[row], load_twice(descending_zigzag[group][row]));
    result = row == first_row ? taken : _mm256_or_si256(result, taken);
  }
  return result;
}

/// Packs eight registers of 16-bit values, with one block in each half, into four of bytes: first the two halves of the
/// first block, then those of the second. Values are clamped to -128...127.
AVX2_INLINE void pack_blocks(const __m256i values[8], __m256i bytes[4]) {
  __m256i a = _mm256_packs_epi16(values[0], values[1]), b = _mm256_packs_epi16(values[2], values[3]);
  __m256i c = _mm256_packs_epi16(values[4], values[5]), d = _mm256_packs_epi16(values[6], values[7]);
  bytes[0] = _mm256_permute2x128_si256(a, b, 0x20), bytes[1] = _mm256_permute2x128_si256(c, d, 0x20);
  bytes[2] = _mm256_permute2x128_si256(a, b, 0x31), bytes[3] = _mm256_permute2x128_si256(c, d, 0x31);
}

/// The top bits of 64 bytes.
AVX2_INLINE uint64_t top_bits(__m256i low, __m256i high) {
  return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

CJPEGCODER_FAST_TARGET
void cjpegcoder_transform_avx2(const uint8_t *samples, ptrdiff_t stride, size_t pairs,
                               const cjpegcoder_quantiser *quantiser,
                               int16_t (*coefficients)[CJPEGCODER_BLOCK], cjpegcoder_masks *masks) {
  const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
  for (size_t pair = 0; pair < pairs; pair++) {
    __m256i rows[8], zigzag[8], bytes[4], lowest[8], odd[4];
#pragma GCC unroll 8
    for (int row = 0; row < 8; row++) {
      __m128i line = _mm_loadu_si128((const __m128i *)(samples + row * stride + pair * 16));
      rows[row] = _mm256_sub_epi16(_mm256_cvtepu8_epi16(line), _mm256_set1_epi16(128));
    }
    transpose(rows);
    transform_columns(rows, true);
    transpose(rows);
    transform_columns(rows, false);

#pragma GCC unroll 8
    for (int row = 0; row < 8; row++) {
      __m256i n = _mm256_add_epi16(_mm256_abs_epi16(rows[row]), load_twice(quantiser->bias + row * 8));
      n = _mm256_mulhi_epu16(n, load_twice(quantiser->reciprocal + row * 8));
      n = _mm256_mulhi_epu16(n, load_twice(quantiser->scale + row * 8));
      rows[row] = _mm256_sign_epi16(n, rows[row]);
    }

    zigzag[0] = gather(rows, 0, 5, 7), zigzag[1] = gather(rows, 1, 3, 7);
    zigzag[2] = gather(rows, 2, 1, 6), zigzag[3] = gather(rows, 3, 4, 7);
    zigzag[4] = gather(rows, 4, 0, 3), zigzag[5] = gather(rows, 5, 1, 6);
    zigzag[6] = gather(rows, 6, 0, 4), zigzag[7] = gather(rows, 7, 0, 2);
    int16_t *first = coefficients[pair * 2], *second = coefficients[pair * 2 + 1];
#pragma GCC unroll 8
    for (int group = 0; group < 8; group++) {
      _mm_storeu_si128((__m128i *)(first + group * 8), _mm256_castsi256_si128(zigzag[group]));
      _mm_storeu_si128((__m128i *)(second + group * 8), _mm256_extracti128_si256(zigzag[group], 1));
      lowest[group] = _mm256_slli_epi16(zigzag[group], 15);
    }

    pack_blocks(zigzag, bytes);
    pack_blocks(lowest, odd);
#pragma GCC unroll 2
    for (int block = 0; block < 2; block++) {
      __m256i low = bytes[block * 2], high = bytes[block * 2 + 1];
      cjpegcoder_masks *found = &masks[pair * 2 + (size_t)block];
      found->nonzero = ~top_bits(_mm256_cmpeq_epi8(low, zero), _mm256_cmpeq_epi8(high, zero));
      // The magnitude of -128 is 128 only as an unsigned byte, and there is no unsigned comparison: the maximum
      // replaces it.
      __m256i low_size = _mm256_abs_epi8(low), high_size = _mm256_abs_epi8(high);
      found->above_one = ~top_bits(_mm256_cmpeq_epi8(_mm256_max_epu8(low_size, one), one),
                                   _mm256_cmpeq_epi8(_mm256_max_epu8(high_size, one), one));
      found->negative = top_bits(low, high);
      found->odd = top_bits(odd[block * 2], odd[block * 2 + 1]);
    }
  }
}

#endif
