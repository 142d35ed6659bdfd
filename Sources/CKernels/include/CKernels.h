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

/// Scales a plane down by a whole number: each byte is the rounded mean of `side` times `side`, `side` at most 256.
///
/// Returns 0, or -1 if there is no memory.
int ckernels_mean(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                  size_t width, size_t height, size_t side);

/// Scales a plane to two thirds in both directions: the target has `width` columns and `height` rows, both even, the
/// source half as many again. The result is the same with `portable`, which leaves out what only some processors have.
///
/// Returns 0, or -1 if there is no memory.
int ckernels_two_thirds(const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
                        size_t width, size_t height, int portable);

/// A 4:2:0 picture of 10 bits in 16-bit words; strides in bytes.
struct ckernels_planes10 {
  const uint16_t *y, *u, *v;
  ptrdiff_t y_stride, u_stride, v_stride;
};

/// A 4:2:0 picture of 8 bits.
struct ckernels_planes8 {
  uint8_t *y, *u, *v;
  ptrdiff_t y_stride, u_stride, v_stride;
};

enum {
  /// Nodes of a colour table along each chroma axis, 32 codes apart.
  CKERNELS_CHROMA_NODES = 33,
  /// Steps of the luma table along luma, 2 codes apart.
  CKERNELS_LUMA_STEPS = 513,
  /// Steps of the chroma table along luma, 16 codes apart.
  CKERNELS_CHROMA_STEPS = 65,
};

/// Maps every colour of a 10-bit picture to the one that tables give for it; width and height are even.
///
/// Tables hold 256ths of an 8-bit code. `luma_table[u][v][y]` has one value, `chroma_table[u][v][y]` two: between the
/// nodes of both chroma axes, and for chroma along luma too, values are interpolated.
void ckernels_map_colors(const struct ckernels_planes10 *source, const struct ckernels_planes8 *target, size_t width,
                         size_t height, const uint16_t *luma_table, const uint16_t *chroma_table);

enum {
  /// Nodes of light along a signal, and the places between two of them.
  CKERNELS_LIGHT_NODES = 1024,
  CKERNELS_LIGHT_STEP_BITS = 6,
  /// Entries for a 256th of all light, and for all of it.
  CKERNELS_SIGNAL_NODES = 4096,
};

/// How 10-bit YUV codes of one gamut become 8-bit ones of another: to red, green and blue, to light, to the light of the
/// other gamut, and back.
struct ckernels_gamut {
  int32_t black;                             // the luma code of black
  int32_t luma;                              // of one code, where a signal of 1 is 1 << 24
  int32_t red_v, green_u, green_v, blue_u;   // likewise
  int32_t rows[9];                           // light to light, 16 bits behind the point
  int32_t to_y[3], to_u[3], to_v[3];         // signals to codes, 16 bits behind the point
};

/// Converts a picture of an even size; what lies outside of the other gamut is clipped.
///
/// `light` has CKERNELS_LIGHT_NODES + 2 entries of 20 bits; `dark` and `bright`, the signals of light, have
/// CKERNELS_SIGNAL_NODES + 1 entries each of 14 bits.
void ckernels_convert_gamut(const struct ckernels_planes10 *source, const struct ckernels_planes8 *target, size_t width,
                            size_t height, const struct ckernels_gamut *gamut, const int32_t *light,
                            const uint16_t *dark, const uint16_t *bright);

/// The sum of the products of two rows of samples, each of which lies within -2048 to 2047.
int64_t ckernels_correlate(const int16_t *a, const int16_t *b, size_t count);

/// Weighs rows: `target[x]` is the rounded sum of `rows[tap][x]` times `weights[tap]`, which are 14-bit fractions that add
/// up to one. The result is the same with `portable`, which leaves out what only some processors have.
void ckernels_weigh_rows(const uint8_t *const *rows, const int16_t *weights, size_t taps, uint8_t *target, size_t count,
                         int portable);

/// The most rows that one filter weighs.
enum { CKERNELS_MOST_TAPS = 4096 };

/// Which rows make each row of a target: `taps` rows from `starts[row]` on, each by its weight.
struct ckernels_filter {
  const uint32_t *starts;
  const int16_t *weights;
  size_t taps;   // at most CKERNELS_MOST_TAPS
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

/// Changes every colour of an 8-bit picture into the one that tables give for it.
///
/// Tables hold 256ths of a code. `luma_table[u][v][y]` has one value for each of 256 lumas, `chroma_table[u][v][y]` two
/// for each step, and one spare entry follows the luma table; between the nodes of both chroma axes values are
/// interpolated. The result is the same with `portable`, which leaves out what only some processors have.
void ckernels_correct_colors(const struct ckernels_planes8 *planes, size_t width, size_t height, int halves_chroma,
                             const uint16_t *luma_table, const uint16_t *chroma_table, int portable);

/// Converts 32-bit RGBA, not multiplied, on white to YCbCr of the full range (JFIF 1.02).
void ckernels_rgba_to_ycbcr(const uint8_t *rgba, uint8_t *y, uint8_t *cb, uint8_t *cr, size_t count);

/// Converts a row of YCbCr of the full range to 24-bit RGB; with `halves_chroma` each pair of pixels shares a sample.
void ckernels_ycbcr_to_rgb(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, int halves_chroma, uint8_t *rgb,
                           size_t count);

/// Rows of samples: the first byte, and the distance in bytes between rows.
struct ckernels_rows {
  const uint8_t *base;
  ptrdiff_t stride;
};

/// Makes a frame of one moment out of one whose rows are two fields: the field that was taken first stays, the rows of the
/// other are made from their neighbours in space and time.
///
/// `keeps_lower`: the odd rows, counted from 0, were taken first. `is_wide`: samples are 16-bit words.
void ckernels_deinterlace(const struct ckernels_rows *previous, const struct ckernels_rows *current,
                          const struct ckernels_rows *next, uint8_t *target, ptrdiff_t target_stride, size_t width,
                          size_t height, int keeps_lower, int is_wide);
