#pragma once

#include <stddef.h>
#include <stdint.h>

// Kernels over 8-bit planes. They use only integers, so that every processor gives the same bytes. A plane is given by
// its first byte and its stride, the distance in bytes between rows. The planes of one call must not overlap.
//
// With `portable` a kernel uses no instructions that only some processors have; the result is the same.

/// Copies rows of `width` bytes.
void ckernels_copy(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                   size_t width, size_t height);

/// Copies a plane and reverses each row.
void ckernels_copy_mirrored(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                            size_t width, size_t height);

/// Transposes a plane: the source has `width` columns and `height` rows, the target the reverse. With negative strides,
/// this gives all four transforms that rotate by 90 degrees, mirrored or not.
void ckernels_transpose(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                        size_t width, size_t height);

/// Sets rows of `width` bytes to one value.
void ckernels_fill(uint8_t *target, ptrdiff_t target_stride, size_t width, size_t height, uint8_t value);

/// Draws a plane over another and blends its four corners.
///
/// `coverage` is the top left corner, `side` x `side`, row by row, from 0 for the target to 255 for the source; the
/// other corners are reflections of it. Twice `side` must not exceed `width` or `height`.
void ckernels_draw_rounded(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                           size_t width, size_t height, const uint8_t *coverage, size_t side);

/// Halves a plane in both directions. Each byte is the rounded mean of four. The target has `width` columns and
/// `height` rows, the source twice as many.
void ckernels_halve(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                    size_t width, size_t height, int portable);

/// Reduces a plane by the factor `side`, at most 256. Each byte is the rounded mean of `side` x `side` bytes.
///
/// Returns 0, or -1 if memory is exhausted.
int ckernels_mean(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                  size_t width, size_t height, size_t side);

/// Scales a plane to two thirds in both directions. The target has `width` columns and `height` rows, both even and not
/// 0, the source one and a half times as many.
///
/// Returns 0, or -1 if memory is exhausted.
int ckernels_two_thirds(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                        size_t width, size_t height, int portable);

/// Halves a plane in both directions, for samples that lie on the left of two and stay there: each byte is the rounded mean of two
/// rows with the weights 1, 2, 1 around its column. The target has `width` columns and `height` rows, the source twice as many.
void ckernels_halve_left(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                         size_t width, size_t height);

/// A 10-bit 4:2:0 image in 16-bit words, with strides in bytes.
struct ckernels_planes10 {
  const uint16_t *y, *u, *v;
  ptrdiff_t y_stride, u_stride, v_stride;
};

/// An 8-bit image in three planes.
struct ckernels_planes8 {
  uint8_t *y, *u, *v;
  ptrdiff_t y_stride, u_stride, v_stride;
};

enum {
  /// Nodes of a colour table along each chroma axis, 16 codes apart.
  CKERNELS_CHROMA_NODES = 65,
  /// Steps of the luma table along luma, 2 codes apart.
  CKERNELS_LUMA_STEPS = 513,
  /// Steps of the chroma table along luma, 16 codes apart.
  CKERNELS_CHROMA_STEPS = 65,
};

/// Converts a 10-bit image with even width and height by lookup tables.
///
/// The tables contain 8-bit codes in units of 1/256. `luma_table[u][v][y]` has one value, `chroma_table[u][v][y]` two.
/// Values are interpolated between the nodes of both chroma axes, and for chroma along luma too.
void ckernels_map_colors(const struct ckernels_planes10 *source, const struct ckernels_planes8 *target, size_t width,
                         size_t height, const uint16_t *luma_table, const uint16_t *chroma_table);

enum {
  /// Nodes of the light table along a signal, and the fraction bits between two nodes.
  CKERNELS_LIGHT_NODES = 1024,
  CKERNELS_LIGHT_STEP_BITS = 6,
  /// Entries of each signal table: one covers the lowest 1/256 of the light, the other all of it.
  CKERNELS_SIGNAL_NODES = 4096,
  /// Nodes of the table of factors along light, up to ten times the light of white.
  CKERNELS_FACTOR_NODES = 2560,
};

/// The factors that convert 10-bit YUV codes of one gamut to 8-bit codes of another: to an RGB signal, to linear
/// light, to linear light of the other gamut, to a signal, and to codes.
struct ckernels_gamut {
  int32_t black;                             // the luma code of black
  int32_t luma;                              // the signal of one luma code, where 1 is 1 << 24
  int32_t red_v, green_u, green_v, blue_u;   // the signals of one chroma code, likewise
  int32_t rows[9];                           // the matrix of linear light, with 16 fraction bits
  int32_t to_y[3], to_u[3], to_v[3];         // the matrix from signals to codes, with 16 fraction bits
};

/// Converts an image of an even size; colours outside of the other gamut are clipped.
///
/// `light`, the linear light of signals, has CKERNELS_LIGHT_NODES + 2 entries, in which 1 << 20 is white. `dark` and
/// `bright`, the signals of linear light, have CKERNELS_SIGNAL_NODES + 1 entries of 14 bits each. `factors`, by which the
/// light of all three components is multiplied for that of the brightest, have CKERNELS_FACTOR_NODES + 1 entries with 16
/// fraction bits; NULL: light stays.
void ckernels_convert_gamut(const struct ckernels_planes10 *source, const struct ckernels_planes8 *target, size_t width,
                            size_t height, const struct ckernels_gamut *gamut, const int32_t *light,
                            const uint16_t *dark, const uint16_t *bright, const uint32_t *factors);

/// Returns the sum of the products of two rows of samples, all within -2048...2047.
int64_t ckernels_correlate(const int16_t *a, const int16_t *b, size_t count);

/// Computes a weighted sum of rows: `target[x]` is the rounded sum of `rows[tap][x]` times `weights[tap]`. The weights
/// are 14-bit fractions with a sum of one.
void ckernels_weigh_rows(const uint8_t *const *rows, const int16_t *weights, size_t taps, uint8_t *target, size_t count,
                         int portable);

/// The maximum number of rows in a weighted sum.
enum { CKERNELS_MAX_TAPS = 4096 };

/// A filter: each target row is the weighted sum of `taps` source rows from `starts[row]` on.
struct ckernels_filter {
  const uint32_t *starts;
  const int16_t *weights;
  size_t taps;   // at most CKERNELS_MAX_TAPS
  size_t count;  // rows of the target
};

/// Changes the number of rows of a strip of `width` columns.
void ckernels_resample_strip(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                           size_t width, const struct ckernels_filter *filter, int portable);

enum {
  /// Nodes of a correction along each chroma axis, 8 codes apart.
  CKERNELS_CORRECTION_NODES = 33,
  /// Steps of its chroma table along luma, 4 codes apart.
  CKERNELS_CORRECTION_STEPS = 65,
};

/// Converts the colours of an 8-bit image by lookup tables, in place.
///
/// The tables contain codes in units of 1/256. `luma_table[u][v][y]` has one value for each of 256 luma codes,
/// `chroma_table[u][v][y]` two values for each step. One spare entry follows the luma table. Values are interpolated
/// between the nodes of both chroma axes.
void ckernels_correct_colors(const struct ckernels_planes8 *planes, size_t width, size_t height, int halves_chroma,
                             const uint16_t *luma_table, const uint16_t *chroma_table, int portable);

/// Blends 32-bit RGBA over white and converts it to full-range YCbCr (JFIF 1.02). `is_premultiplied` says that the
/// colours are multiplied by alpha already.
void ckernels_rgba_to_ycbcr(const uint8_t *rgba, int is_premultiplied, uint8_t *y, uint8_t *cb, uint8_t *cr,
                            size_t count);

/// Converts a row of full-range YCbCr to 24-bit RGB. With `halves_chroma` two pixels share a chroma sample.
void ckernels_ycbcr_to_rgb(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, int halves_chroma, uint8_t *rgb,
                           size_t count);

/// A plane to read: its first byte and its stride.
struct ckernels_rows {
  const uint8_t *base;
  ptrdiff_t stride;
};

/// Deinterlaces a plane: copies the first field and interpolates the rows of the second one in space and time.
///
/// `keeps_lower`: the bottom field, the odd rows counted from 0, is the first one. `is_wide`: samples are 16-bit words.
void ckernels_deinterlace(const struct ckernels_rows *previous, const struct ckernels_rows *current,
                          const struct ckernels_rows *next, uint8_t *target, ptrdiff_t target_stride, size_t width,
                          size_t height, int keeps_lower, int is_wide);
