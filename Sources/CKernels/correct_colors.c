#include "CKernels.h"

enum { nodes = CKERNELS_CORRECTION_NODES, luma_steps = 256, chroma_steps = CKERNELS_CORRECTION_STEPS };
// The weights have a sum of 64, and table entries are in units of 1/256.
enum { fraction_bits = 14, half = 1 << (fraction_bits - 1) };

static uint8_t rounded(uint32_t sum) {
  const uint32_t value = (sum + half) >> fraction_bits;
  return (uint8_t)(value > 255 ? 255 : value);
}

/// The position of a pair of chroma samples between the nodes: the lower corner, and the weights of all four corners.
struct position {
  size_t corner;
  uint32_t weights[4];
};

static const size_t steps_to_corners[4] = {0, 1, nodes, nodes + 1};

static struct position locate(uint8_t u, uint8_t v) {
  const uint32_t fu = u & 7, fv = v & 7;
  return (struct position){
      .corner = (size_t)(u >> 3) * nodes + (v >> 3),
      .weights = {(8 - fu) * (8 - fv), (8 - fu) * fv, fu * (8 - fv), fu * fv},
  };
}

/// An image and the tables for its colours.
struct image {
  const struct ckernels_planes8 *planes;
  size_t width, height;
  size_t side;  // luma samples of a chroma sample, in each direction
  const uint16_t *luma_table, *chroma_table;
};

/// Converts the chroma of a block by its mean luma, before the luma is converted.
static void correct_chroma(const struct image *image, struct position position, uint32_t mean, uint8_t *u, uint8_t *v) {
  const size_t step = (mean + 2) >> 2;
  uint32_t new_u = 0, new_v = 0;
  for (int corner = 0; corner < 4; corner++) {
    const uint16_t *entry =
        image->chroma_table + ((position.corner + steps_to_corners[corner]) * chroma_steps + step) * 2;
    new_u += position.weights[corner] * entry[0];
    new_v += position.weights[corner] * entry[1];
  }
  *u = rounded(new_u);
  *v = rounded(new_v);
}

static uint8_t corrected_luma(const struct image *image, struct position position, uint8_t luma) {
  uint32_t sum = 0;
  for (int corner = 0; corner < 4; corner++) {
    const size_t node = position.corner + steps_to_corners[corner];
    sum += position.weights[corner] * image->luma_table[node * luma_steps + luma];
  }
  return rounded(sum);
}

/// Converts a row of blocks from a column of luma on.
static void correct_blocks(const struct image *image, uint8_t *y_row, size_t rows, uint8_t *u_row, uint8_t *v_row,
                           size_t from) {
  const ptrdiff_t stride = image->planes->y_stride;
  for (size_t left = from; left < image->width; left += image->side) {
    uint8_t *u = u_row + left / image->side, *v = v_row + left / image->side;
    const struct position position = locate(*u, *v);
    const size_t columns = image->width - left < image->side ? image->width - left : image->side;
    uint32_t lumas = 0;
    for (size_t row = 0; row < rows; row++) {
      const uint8_t *luma = y_row + (ptrdiff_t)row * stride + left;
      for (size_t column = 0; column < columns; column++) lumas += luma[column];
    }
    correct_chroma(image, position, lumas / (uint32_t)(rows * columns), u, v);
    for (size_t row = 0; row < rows; row++) {
      uint8_t *luma = y_row + (ptrdiff_t)row * stride + left;
      for (size_t column = 0; column < columns; column++) luma[column] = corrected_luma(image, position, luma[column]);
    }
  }
}

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

/// Converts eight luma samples at once, each with the corner and weights of its chroma.
__attribute__((target("avx2"))) static void correct_eight(const struct image *image, uint8_t *luma, __m256i corners,
                                                          const __m256i weights[4]) {
  const __m256i words = _mm256_set1_epi32(0xFFFF);
  const __m256i position = _mm256_add_epi32(_mm256_slli_epi32(corners, 8),
                                            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)luma)));
  __m256i sum = _mm256_set1_epi32(half);
  for (int corner = 0; corner < 4; corner++) {
    // Entries have two bytes: the mask removes the next entry, which is read too. The table ends with a spare entry.
    const __m256i index = _mm256_add_epi32(position, _mm256_set1_epi32((int)(steps_to_corners[corner] * luma_steps)));
    const __m256i entry = _mm256_and_si256(_mm256_i32gather_epi32((const int *)image->luma_table, index, 2), words);
    sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(entry, weights[corner]));
  }
  const __m256i value = _mm256_srli_epi32(sum, fraction_bits);
  const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
  _mm_storel_epi64((__m128i *)luma, _mm_packus_epi16(packed, packed));
}

/// Converts blocks of two by two, four at a time. Returns the number of luma columns done.
__attribute__((target("avx2"))) static size_t correct_fast(const struct image *image, uint8_t *y_row, uint8_t *u_row,
                                                           uint8_t *v_row) {
  const ptrdiff_t stride = image->planes->y_stride;
  const __m256i seven = _mm256_set1_epi32(7), eight = _mm256_set1_epi32(8), across = _mm256_set1_epi32(nodes);
  const __m128i twice = _mm_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, -1, -1, -1, -1, -1, -1, -1, -1);
  size_t left = 0;
  for (; left + 8 <= image->width; left += 8) {
    int32_t four_u, four_v;
    memcpy(&four_u, u_row + left / 2, 4);
    memcpy(&four_v, v_row + left / 2, 4);
    const __m256i u = _mm256_cvtepu8_epi32(_mm_shuffle_epi8(_mm_cvtsi32_si128(four_u), twice));
    const __m256i v = _mm256_cvtepu8_epi32(_mm_shuffle_epi8(_mm_cvtsi32_si128(four_v), twice));
    const __m256i fu = _mm256_and_si256(u, seven), fv = _mm256_and_si256(v, seven);
    const __m256i gu = _mm256_sub_epi32(eight, fu), gv = _mm256_sub_epi32(eight, fv);
    const __m256i weights[4] = {_mm256_mullo_epi32(gu, gv), _mm256_mullo_epi32(gu, fv), _mm256_mullo_epi32(fu, gv),
                                _mm256_mullo_epi32(fu, fv)};
    const __m256i corners =
        _mm256_add_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(u, 3), across), _mm256_srli_epi32(v, 3));
    for (size_t block = 0; block < 4; block++) {
      const uint8_t *top = y_row + left + 2 * block, *bottom = top + stride;
      uint8_t *block_u = u_row + left / 2 + block, *block_v = v_row + left / 2 + block;
      const uint32_t mean = (uint32_t)(top[0] + top[1] + bottom[0] + bottom[1]) / 4;
      correct_chroma(image, locate(*block_u, *block_v), mean, block_u, block_v);
    }
    correct_eight(image, y_row + left, corners, weights);
    correct_eight(image, y_row + stride + left, corners, weights);
  }
  return left;
}
#endif

void ckernels_correct_colors(const struct ckernels_planes8 *planes, size_t width, size_t height, int halves_chroma,
                             const uint16_t *luma_table, const uint16_t *chroma_table, int portable) {
  const struct image image = {planes, width, height, halves_chroma ? 2 : 1, luma_table, chroma_table};
  for (size_t top = 0; top < height; top += image.side) {
    uint8_t *y_row = planes->y + (ptrdiff_t)top * planes->y_stride;
    uint8_t *u_row = planes->u + (ptrdiff_t)(top / image.side) * planes->u_stride;
    uint8_t *v_row = planes->v + (ptrdiff_t)(top / image.side) * planes->v_stride;
    const size_t rows = height - top < image.side ? height - top : image.side;
    size_t done = 0;
#if defined(__x86_64__)
    if (!portable && rows == 2 && __builtin_cpu_supports("avx2")) done = correct_fast(&image, y_row, u_row, v_row);
#else
    (void)portable;
#endif
    correct_blocks(&image, y_row, rows, u_row, v_row, done);
  }
}
