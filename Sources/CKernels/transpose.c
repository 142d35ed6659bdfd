#include <string.h>

#include "CKernels.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));

enum {
  tile = 16,
  // A cache line of the source, whose columns become as many target rows: four tiles fill a line of each before the next tiles follow.
  strip = 64,
  // How many rows before a tile its lines are asked for: a step of a whole row is more than processors foresee.
  ahead = 32,
};

static inline bytes16 interleave_low(bytes16 a, bytes16 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline bytes16 interleave_high(bytes16 a, bytes16 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Interleaving row i with row i + 8 rotates the bits of a byte's index (row, column) left by one bit; after four
// rounds, row and column are exchanged.
static inline void transpose_tile(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target,
                                  ptrdiff_t target_stride) {
  bytes16 rows[tile], turned[tile];
  for (int i = 0; i < tile; i++) memcpy(&rows[i], source + i * source_stride, tile);
  // In a loop the rows would not stay in registers.
#pragma unroll
  for (int round = 0; round < 4; round++) {
#pragma unroll
    for (int i = 0; i < tile / 2; i++) {
      turned[2 * i] = interleave_low(rows[i], rows[i + tile / 2]);
      turned[2 * i + 1] = interleave_high(rows[i], rows[i + tile / 2]);
    }
    memcpy(rows, turned, sizeof rows);
  }
  for (int i = 0; i < tile; i++) memcpy(target + i * target_stride, &rows[i], tile);
}

static void transpose_rest(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                           size_t left, size_t right, size_t top, size_t bottom) {
  for (size_t y = top; y < bottom; y++)
    for (size_t x = left; x < right; x++)
      target[(ptrdiff_t)x * target_stride + (ptrdiff_t)y] = source[(ptrdiff_t)y * source_stride + (ptrdiff_t)x];
}

void ckernels_transpose(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                        size_t width, size_t height) {
  const size_t tiled_width = width / tile * tile, tiled_height = height / tile * tile;
  for (size_t left = 0; left < tiled_width; left += strip) {
    const size_t right = left + strip < tiled_width ? left + strip : tiled_width;
    for (size_t y = 0; y < tiled_height; y += tile) {
      for (size_t row = y + ahead; row < y + ahead + tile && row < height; row++)
        __builtin_prefetch(source + (ptrdiff_t)row * source_stride + left);
      for (size_t x = left; x < right; x += tile)
        transpose_tile(source + (ptrdiff_t)y * source_stride + x, source_stride,
                       target + (ptrdiff_t)x * target_stride + y, target_stride);
    }
  }
  transpose_rest(source, source_stride, target, target_stride, tiled_width, width, 0, height);
  transpose_rest(source, source_stride, target, target_stride, 0, tiled_width, tiled_height, height);
}
