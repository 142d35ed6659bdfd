#include "CKernels.h"

enum { nodes = CKERNELS_CORRECTION_NODES, luma_steps = 256, chroma_steps = CKERNELS_CORRECTION_STEPS };
// Weights add up to 64, times 256ths of a code.
enum { fraction_bits = 14, half = 1 << (fraction_bits - 1) };

static uint8_t rounded(uint32_t sum) {
  const uint32_t value = (sum + half) >> fraction_bits;
  return (uint8_t)(value > 255 ? 255 : value);
}

/// Where a pair of chroma samples lies between the nodes: the nearest corner below, and the weights of all four.
struct place {
  size_t corner;
  uint32_t weights[4];
};

static const size_t steps_to_corners[4] = {0, 1, nodes, nodes + 1};

static struct place locate(uint8_t u, uint8_t v) {
  const uint32_t fu = u & 7, fv = v & 7;
  return (struct place){
      .corner = (size_t)(u >> 3) * nodes + (v >> 3),
      .weights = {(8 - fu) * (8 - fv), (8 - fu) * fv, fu * (8 - fv), fu * fv},
  };
}

/// A picture and the tables that its colours are changed by.
struct work {
  const struct ckernels_planes8 *planes;
  size_t width, height;
  size_t side;  // luma samples of a chroma sample, in each direction
  const uint16_t *luma_table, *chroma_table;
};

/// The chroma of a block of luma samples that have not been changed yet.
static void correct_chroma(const struct work *work, struct place place, uint32_t mean, uint8_t *u, uint8_t *v) {
  const size_t step = (mean + 2) >> 2;
  uint32_t new_u = 0, new_v = 0;
  for (int corner = 0; corner < 4; corner++) {
    const uint16_t *entry =
        work->chroma_table + ((place.corner + steps_to_corners[corner]) * chroma_steps + step) * 2;
    new_u += place.weights[corner] * entry[0];
    new_v += place.weights[corner] * entry[1];
  }
  *u = rounded(new_u);
  *v = rounded(new_v);
}

static uint8_t corrected_luma(const struct work *work, struct place place, uint8_t luma) {
  uint32_t sum = 0;
  for (int corner = 0; corner < 4; corner++)
    sum += place.weights[corner] * work->luma_table[(place.corner + steps_to_corners[corner]) * luma_steps + luma];
  return rounded(sum);
}

/// Changes the blocks of a row of blocks from a column of luma on.
static void correct_blocks(const struct work *work, uint8_t *y_row, size_t rows, uint8_t *u_row, uint8_t *v_row,
                           size_t from) {
  const ptrdiff_t stride = work->planes->y_stride;
  for (size_t left = from; left < work->width; left += work->side) {
    uint8_t *u = u_row + left / work->side, *v = v_row + left / work->side;
    const struct place place = locate(*u, *v);
    const size_t columns = work->width - left < work->side ? work->width - left : work->side;
    uint32_t lumas = 0;
    for (size_t row = 0; row < rows; row++)
      for (size_t column = 0; column < columns; column++) lumas += y_row[(ptrdiff_t)row * stride + left + column];
    correct_chroma(work, place, lumas / (uint32_t)(rows * columns), u, v);
    for (size_t row = 0; row < rows; row++) {
      uint8_t *luma = y_row + (ptrdiff_t)row * stride + left;
      for (size_t column = 0; column < columns; column++) luma[column] = corrected_luma(work, place, luma[column]);
    }
  }
}

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

/// Eight luma samples at once, each with the corner and weights of its chroma.
__attribute__((target("avx2"))) static void correct_eight(const struct work *work, uint8_t *luma, __m256i corners,
                                                          const __m256i weights[4]) {
  const __m256i words = _mm256_set1_epi32(0xFFFF);
  const __m256i place = _mm256_add_epi32(_mm256_slli_epi32(corners, 8),
                                         _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)luma)));
  __m256i sum = _mm256_set1_epi32(half);
  for (int corner = 0; corner < 4; corner++) {
    // Entries have two bytes: what is read beside one is masked away. The table ends with a spare entry.
    const __m256i index = _mm256_add_epi32(place, _mm256_set1_epi32((int)(steps_to_corners[corner] * luma_steps)));
    const __m256i entry = _mm256_and_si256(_mm256_i32gather_epi32((const int *)work->luma_table, index, 2), words);
    sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(entry, weights[corner]));
  }
  const __m256i value = _mm256_srli_epi32(sum, fraction_bits);
  const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
  _mm_storel_epi64((__m128i *)luma, _mm_packus_epi16(packed, packed));
}

/// Changes blocks of two by two, four at a time; how many columns of luma are done.
__attribute__((target("avx2"))) static size_t correct_fast(const struct work *work, uint8_t *y_row, uint8_t *u_row,
                                                           uint8_t *v_row) {
  const ptrdiff_t stride = work->planes->y_stride;
  const __m256i seven = _mm256_set1_epi32(7), eight = _mm256_set1_epi32(8), across = _mm256_set1_epi32(nodes);
  const __m128i twice = _mm_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, -1, -1, -1, -1, -1, -1, -1, -1);
  size_t left = 0;
  for (; left + 8 <= work->width; left += 8) {
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
      correct_chroma(work, locate(*block_u, *block_v), (uint32_t)(top[0] + top[1] + bottom[0] + bottom[1]) / 4, block_u,
                     block_v);
    }
    correct_eight(work, y_row + left, corners, weights);
    correct_eight(work, y_row + stride + left, corners, weights);
  }
  return left;
}
#endif

void ckernels_correct_colors(const struct ckernels_planes8 *planes, size_t width, size_t height, int halves_chroma,
                             const uint16_t *luma_table, const uint16_t *chroma_table, int portable) {
  const struct work work = {planes, width, height, halves_chroma ? 2 : 1, luma_table, chroma_table};
  for (size_t top = 0; top < height; top += work.side) {
    uint8_t *y_row = planes->y + (ptrdiff_t)top * planes->y_stride;
    uint8_t *u_row = planes->u + (ptrdiff_t)(top / work.side) * planes->u_stride;
    uint8_t *v_row = planes->v + (ptrdiff_t)(top / work.side) * planes->v_stride;
    const size_t rows = height - top < work.side ? height - top : work.side;
    size_t done = 0;
#if defined(__x86_64__)
    if (!portable && rows == 2 && __builtin_cpu_supports("avx2")) done = correct_fast(&work, y_row, u_row, v_row);
#else
    (void)portable;
#endif
    correct_blocks(&work, y_row, rows, u_row, v_row, done);
  }
}
