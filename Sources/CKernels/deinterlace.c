#include <stdlib.h>
#include <string.h>

#include "CKernels.h"

// Motion-adaptive deinterlacing: a missing sample is interpolated from the rows above and below, along the edge that
// runs through it. Its difference from the mean of the samples before and after is limited by the change of the
// neighbourhood between frames, so that without motion both fields are combined.

static inline __attribute__((always_inline)) int at(const uint8_t *row, ptrdiff_t x, int is_wide) {
  return is_wide ? ((const uint16_t *)(const void *)row)[x] : row[x];
}

static inline int larger(int a, int b) { return a > b ? a : b; }

// The mean of the two samples in the direction that fits best, out of five.
static inline __attribute__((always_inline)) int across_edge(const uint8_t *above, const uint8_t *below, ptrdiff_t x,
                                                             ptrdiff_t width, int is_wide) {
  int best = (at(above, x, is_wide) + at(below, x, is_wide)) >> 1;
  if (x < 3 || x + 3 >= width) return best;
  int best_score = -1;
  static const int directions[] = {0, -1, 1, -2, 2};
  for (int index = 0; index < 5; index++) {
    const int j = directions[index];
    int score = 0;
    for (int near = -1; near <= 1; near++)
      score += abs(at(above, x + near + j, is_wide) - at(below, x + near - j, is_wide));
    if (best_score < 0 || score < best_score) {
      best_score = score;
      best = (at(above, x + j, is_wide) + at(below, x - j, is_wide)) >> 1;
    }
  }
  return best;
}

static inline __attribute__((always_inline)) void fill_row(const struct ckernels_rows *previous,
                                                           const struct ckernels_rows *current,
                                                           const struct ckernels_rows *next, uint8_t *target,
                                                           ptrdiff_t y, ptrdiff_t width, ptrdiff_t height, int is_wide) {
  const ptrdiff_t up = y > 0 ? y - 1 : y + 1, down = y + 1 < height ? y + 1 : y - 1;
  const uint8_t *above = current->base + up * current->stride, *below = current->base + down * current->stride;
  const uint8_t *before = previous->base + y * previous->stride, *after = current->base + y * current->stride;
  const uint8_t *above_before = previous->base + up * previous->stride;
  const uint8_t *below_before = previous->base + down * previous->stride;
  const uint8_t *above_after = next->base + up * next->stride, *below_after = next->base + down * next->stride;
  for (ptrdiff_t x = 0; x < width; x++) {
    const int c = at(above, x, is_wide), e = at(below, x, is_wide);
    const int mean = (at(before, x, is_wide) + at(after, x, is_wide)) >> 1;
    const int between = abs(at(before, x, is_wide) - at(after, x, is_wide)) >> 1;
    const int since = (abs(at(above_before, x, is_wide) - c) + abs(at(below_before, x, is_wide) - e)) >> 1;
    const int until = (abs(at(above_after, x, is_wide) - c) + abs(at(below_after, x, is_wide) - e)) >> 1;
    const int change = larger(between, larger(since, until));
    int value = across_edge(above, below, x, width, is_wide);
    if (value > mean + change) value = mean + change;
    if (value < mean - change) value = mean - change;
    if (is_wide)
      ((uint16_t *)(void *)target)[x] = (uint16_t)value;
    else
      target[x] = (uint8_t)value;
  }
}

void ckernels_deinterlace(const struct ckernels_rows *previous, const struct ckernels_rows *current,
                          const struct ckernels_rows *next, uint8_t *target, ptrdiff_t target_stride, size_t width,
                          size_t height, int keeps_lower, int is_wide) {
  for (size_t y = 0; y < height; y++) {
    if (y > 0) target += target_stride;
    if ((y & 1) == (keeps_lower != 0) || height < 2)
      memcpy(target, current->base + (ptrdiff_t)y * current->stride, is_wide ? 2 * width : width);
    else if (is_wide)
      fill_row(previous, current, next, target, (ptrdiff_t)y, (ptrdiff_t)width, (ptrdiff_t)height, 1);
    else
      fill_row(previous, current, next, target, (ptrdiff_t)y, (ptrdiff_t)width, (ptrdiff_t)height, 0);
  }
}
