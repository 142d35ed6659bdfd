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

static void correct_luma(const uint16_t *table, uint8_t *y, const uint8_t *u, const uint8_t *v, size_t from,
                         size_t count) {
  for (size_t x = from; x < count; x++) {
    const struct place place = locate(u[x], v[x]);
    uint32_t sum = 0;
    for (int corner = 0; corner < 4; corner++)
      sum += place.weights[corner] * table[(place.corner + steps_to_corners[corner]) * luma_steps + y[x]];
    y[x] = rounded(sum);
  }
}

#if defined(__x86_64__)
#include <immintrin.h>

/// Eight samples at a time; how many are done.
__attribute__((target("avx2"))) static size_t correct_luma_avx2(const uint16_t *table, uint8_t *y, const uint8_t *u,
                                                                const uint8_t *v, size_t count) {
  const __m256i seven = _mm256_set1_epi32(7), eight = _mm256_set1_epi32(8), across = _mm256_set1_epi32(nodes);
  const __m256i words = _mm256_set1_epi32(0xFFFF);
  size_t x = 0;
  for (; x + 8 <= count; x += 8) {
    const __m256i us = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(u + x)));
    const __m256i vs = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(v + x)));
    const __m256i ys = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(y + x)));
    const __m256i fu = _mm256_and_si256(us, seven), fv = _mm256_and_si256(vs, seven);
    const __m256i gu = _mm256_sub_epi32(eight, fu), gv = _mm256_sub_epi32(eight, fv);
    const __m256i weights[4] = {_mm256_mullo_epi32(gu, gv), _mm256_mullo_epi32(gu, fv), _mm256_mullo_epi32(fu, gv),
                                _mm256_mullo_epi32(fu, fv)};
    const __m256i corner =
        _mm256_add_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(us, 3), across), _mm256_srli_epi32(vs, 3));
    const __m256i place = _mm256_add_epi32(_mm256_slli_epi32(corner, 8), ys);
    __m256i sum = _mm256_set1_epi32(half);
    for (int step = 0; step < 4; step++) {
      // Entries have two bytes: what is read beside one is masked away. The table ends with a spare entry.
      const __m256i index = _mm256_add_epi32(place, _mm256_set1_epi32((int)(steps_to_corners[step] * luma_steps)));
      const __m256i entry = _mm256_and_si256(_mm256_i32gather_epi32((const int *)table, index, 2), words);
      sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(entry, weights[step]));
    }
    const __m256i value = _mm256_srli_epi32(sum, fraction_bits);
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    _mm_storel_epi64((__m128i *)(y + x), _mm_packus_epi16(packed, packed));
  }
  return x;
}
#endif

/// A row of chroma as luma has it: between the samples of two rows, nearer ones three times as heavy.
static void spread(const uint8_t *near, const uint8_t *far, uint8_t *target, size_t width) {
  const size_t count = (width + 1) / 2;
  for (size_t x = 0; x < count; x++) {
    const size_t before = x > 0 ? x - 1 : 0, behind = x + 1 < count ? x + 1 : x;
    const uint32_t here = 3u * near[x] + far[x];
    target[2 * x] = (uint8_t)((3 * here + 3u * near[before] + far[before] + 8) >> 4);
    target[2 * x + 1] = (uint8_t)((3 * here + 3u * near[behind] + far[behind] + 8) >> 4);
  }
}

/// The chroma of a row of blocks, whose luma is the mean of `side` by `side` samples that have not been changed yet.
static void correct_chroma(const struct ckernels_correction *work, size_t block_row) {
  const struct ckernels_planes8 *planes = &work->planes;
  const size_t side = work->halves_chroma ? 2 : 1, top = block_row * side;
  const size_t rows = work->height - top < side ? work->height - top : side;
  const uint8_t *y = planes->y + (ptrdiff_t)top * planes->y_stride;
  uint8_t *u = planes->u + (ptrdiff_t)block_row * planes->u_stride;
  uint8_t *v = planes->v + (ptrdiff_t)block_row * planes->v_stride;
  for (size_t left = 0; left < work->width; left += side, u++, v++) {
    const size_t columns = work->width - left < side ? work->width - left : side;
    uint32_t lumas = 0;
    for (size_t row = 0; row < rows; row++)
      for (size_t column = 0; column < columns; column++) lumas += y[(ptrdiff_t)row * planes->y_stride + left + column];
    const size_t step = (lumas / (uint32_t)(rows * columns) + 2) >> 2;
    const struct place place = locate(*u, *v);
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
}

void ckernels_correct_colors(const struct ckernels_correction *work) {
  const struct ckernels_planes8 *planes = &work->planes;
  const size_t side = work->halves_chroma ? 2 : 1, block_rows = (work->height + side - 1) / side;
  for (size_t block_row = 0; block_row < block_rows; block_row++) {
    correct_chroma(work, block_row);
    for (size_t top = block_row * side; top < work->height && top < (block_row + 1) * side; top++) {
      const uint8_t *u = work->u_source + (ptrdiff_t)block_row * planes->u_stride;
      const uint8_t *v = work->v_source + (ptrdiff_t)block_row * planes->v_stride;
      if (work->halves_chroma) {
        const size_t wanted = top % 2 == 0 ? block_row - (block_row > 0) : block_row + 1;
        const size_t other = wanted < block_rows ? wanted : block_row;
        spread(u, work->u_source + (ptrdiff_t)other * planes->u_stride, work->rows[0], work->width);
        spread(v, work->v_source + (ptrdiff_t)other * planes->v_stride, work->rows[1], work->width);
        u = work->rows[0];
        v = work->rows[1];
      }
      uint8_t *y = planes->y + (ptrdiff_t)top * planes->y_stride;
      size_t done = 0;
#if defined(__x86_64__)
      if (!work->portable && __builtin_cpu_supports("avx2"))
        done = correct_luma_avx2(work->luma_table, y, u, v, work->width);
#endif
      correct_luma(work->luma_table, y, u, v, done, work->width);
    }
  }
}
