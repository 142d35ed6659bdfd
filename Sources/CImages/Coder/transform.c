// Forward DCT and quantisation: the tables, and the variant for any processor.

#include "internal.h"

const uint8_t cjpegcoder_natural_position[CJPEGCODER_BLOCK] = {
  0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
  41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
  30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// The luma table of T.81 annex K.1, in natural order.
static const uint8_t luma_steps[CJPEGCODER_BLOCK] = {
  16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
  14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
  18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
  49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

/// The chroma table of T.81 annex K.1, in natural order.
static const uint8_t chroma_steps[CJPEGCODER_BLOCK] = {
  17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
  24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

void cjpegcoder_prepare_quantiser(cjpegcoder_quantiser *quantiser, bool chroma, int quality) {
  const uint8_t *steps = chroma ? chroma_steps : luma_steps;
  int percent = quality < 50 ? 5000 / quality : 200 - quality * 2;
  for (int position = 0; position < CJPEGCODER_BLOCK; position++) {
    int step = (steps[position] * percent + 50) / 100;
    step = step < 1 ? 1 : step > 255 ? 255 : step;
    // The results of the DCT below are eight times too large; the divisor compensates for that.
    unsigned divisor = (unsigned)step * 8, log2 = 3;
    while (1u << log2 < divisor) { log2++; }
    // No result exceeds 8 * 1024 by more than rounding, so n = |result| + divisor / 2 is below 2^14. For such n the
    // factor ceil(2^(14 + log2) / divisor) and a shift of 14 + log2 give the exact quotient, because factor * divisor
    // exceeds 2^(14 + log2) by less than divisor <= 2^log2 (Granlund and Montgomery, 1994, theorem 4.2).
    quantiser->bias[position] = (uint16_t)(divisor / 2);
    quantiser->reciprocal[position] = (uint16_t)(((1u << (14 + log2)) + divisor - 1) / divisor);
    quantiser->scale[position] = (uint16_t)(1u << (18 - log2));
  }
  for (int k = 0; k < CJPEGCODER_BLOCK; k++) {
    int step = quantiser->bias[cjpegcoder_natural_position[k]] / 4;
    quantiser->values[k] = (uint8_t)step;
  }
}

/// Divides by 2^bits and rounds halves up.
static inline int32_t rounded_shift(int32_t value, int bits) {
  return (value + (1 << (bits - 1))) >> bits;
}

/// One pass of the DCT over eight values that are `step` apart, in place.
///
/// The factorisation of Loeffler, Ligtenberg and Moschytz with factors of 13 fractional bits. Its rotations are
/// expanded to integer products, which gives exactly the same sums. The first pass leaves two fractional bits, the
/// second removes them.
CJPEGCODER_SHARED_BODY void transform_eight(int32_t *values, int step, bool first_pass) {
  int32_t sum0 = values[0] + values[7 * step], difference0 = values[0] - values[7 * step];
  int32_t sum1 = values[step] + values[6 * step], difference1 = values[step] - values[6 * step];
  int32_t sum2 = values[2 * step] + values[5 * step], difference2 = values[2 * step] - values[5 * step];
  int32_t sum3 = values[3 * step] + values[4 * step], difference3 = values[3 * step] - values[4 * step];

  int32_t outer_sum = sum0 + sum3, outer_difference = sum0 - sum3;
  int32_t inner_sum = sum1 + sum2, inner_difference = sum1 - sum2;
  int shift = first_pass ? 13 - 2 : 13 + 2;
  values[0] = first_pass ? (outer_sum + inner_sum) * 4 : rounded_shift(outer_sum + inner_sum, 2);
  values[4 * step] = first_pass ? (outer_sum - inner_sum) * 4 : rounded_shift(outer_sum - inner_sum, 2);
  values[2 * step] = rounded_shift(outer_difference * 10703 + inner_difference * 4433, shift);
  values[6 * step] = rounded_shift(outer_difference * 4433 - inner_difference * 10704, shift);

  values[step] = rounded_shift(
    difference0 * 11363 + difference3 * 2260 + difference1 * 9633 + difference2 * 6437, shift);
  values[3 * step] = rounded_shift(
    difference0 * 9633 - difference3 * 6436 - difference1 * 2259 - difference2 * 11362, shift);
  values[5 * step] = rounded_shift(
    difference0 * 6437 + difference3 * 9633 - difference1 * 11362 + difference2 * 2261, shift);
  values[7 * step] = rounded_shift(
    difference0 * 2260 - difference3 * 11363 - difference1 * 6436 + difference2 * 9633, shift);
}

void cjpegcoder_transform_portable(const uint8_t *samples, ptrdiff_t stride, size_t pairs,
                                   const cjpegcoder_quantiser *quantiser,
                                   int16_t (*coefficients)[CJPEGCODER_BLOCK], cjpegcoder_masks *masks) {
  for (size_t block = 0; block < pairs * 2; block++) {
    int32_t values[CJPEGCODER_BLOCK];
    for (int row = 0; row < 8; row++) {
      const uint8_t *line = samples + row * stride + block * 8;
      for (int column = 0; column < 8; column++) { values[row * 8 + column] = line[column] - 128; }
    }
    for (int row = 0; row < 8; row++) { transform_eight(values + row * 8, 1, true); }
    for (int column = 0; column < 8; column++) { transform_eight(values + column, 8, false); }

    // In natural order first: compilers vectorise this loop.
    for (int position = 0; position < CJPEGCODER_BLOCK; position++) {
      int32_t value = values[position], sign = value >> 31;
      uint32_t n = (uint32_t)((value ^ sign) - sign) + quantiser->bias[position];
      uint32_t quotient = ((n * quantiser->reciprocal[position]) >> 16) * quantiser->scale[position] >> 16;
      values[position] = ((int32_t)quotient ^ sign) - sign;
    }
    cjpegcoder_masks found = {0, 0, 0, 0};
    for (int k = 0; k < CJPEGCODER_BLOCK; k++) {
      int position = CJPEGCODER_BLOCK - 1 - k;
      int32_t value = values[cjpegcoder_natural_position[k]];
      coefficients[block][position] = (int16_t)value;
      found.nonzero |= (uint64_t)(value != 0) << position;
    }
    for (uint64_t left = found.nonzero; left; left &= left - 1) {
      int32_t value = coefficients[block][__builtin_ctzll(left)];
      uint64_t bit = left & -left;
      found.above_one |= value > 1 || value < -1 ? bit : 0;
      found.negative |= value < 0 ? bit : 0;
      found.odd |= value & 1 ? bit : 0;
    }
    masks[block] = found;
  }
}
