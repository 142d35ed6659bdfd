#pragma once

#include <stddef.h>
#include <stdint.h>

// Kernels over 8-bit planes. Integers only, so that every processor gives the same bytes. A plane is its first byte
// and the distance in bytes between rows; planes given to one call never overlap.

/// Copies rows of `width` bytes.
void ckernels_copy(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                   size_t width, size_t height);

/// Copies a plane and reverses each row.
void ckernels_copy_mirrored(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                            size_t width, size_t height);

/// Exchanges rows and columns: the source has `width` columns and `height` rows, the target the reverse.
/// Negative strides flip either side, which makes of this one loop the four transforms that turn by a quarter.
void ckernels_transpose(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                        size_t width, size_t height);

/// Sets rows of `width` bytes to one value.
void ckernels_fill(uint8_t *target, ptrdiff_t target_stride, size_t width, size_t height, uint8_t value);

/// Draws a plane over another and blends its four corners.
///
/// `coverage` is the top left corner, `side` x `side`, row by row, 0 for the target alone and 255 for the source alone;
/// the other corners are its reflections. Twice `side` is at most `width` and at most `height`.
void ckernels_draw_rounded(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                           size_t width, size_t height, const uint8_t *coverage, size_t side);

/// Halves a plane in both directions, each byte the rounded mean of four; the target has `width` columns and `height`
/// rows, the source twice as many.
void ckernels_halve(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                    size_t width, size_t height);
