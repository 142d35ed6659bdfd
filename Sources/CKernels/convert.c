#include "CKernels.h"

// JFIF 1.02: ITU-R BT.601 in full range, with 16-bit fractions rounded as in libjpeg.
enum { fraction_bits = 16, half = 1 << 15 };

static uint8_t flattened(uint8_t value, uint8_t alpha, int is_premultiplied) {
  // Over white; nothing is brighter than its alpha.
  if (is_premultiplied) return value < alpha ? (uint8_t)(value + 255 - alpha) : 255;
  // The rounded quotient by 255, exact.
  const uint32_t product = (uint32_t)value * alpha + 255u * (255u - alpha) + 128;
  return (uint8_t)((product + (product >> 8)) >> 8);
}

void ckernels_rgba_to_ycbcr(const uint8_t *rgba, int is_premultiplied, uint8_t *y, uint8_t *cb, uint8_t *cr,
                            size_t count) {
  for (size_t x = 0; x < count; x++, rgba += 4) {
    int32_t r = rgba[0], g = rgba[1], b = rgba[2];
    if (rgba[3] != 255) {
      r = flattened(rgba[0], rgba[3], is_premultiplied);
      g = flattened(rgba[1], rgba[3], is_premultiplied);
      b = flattened(rgba[2], rgba[3], is_premultiplied);
    }
    y[x] = (uint8_t)((19595 * r + 38470 * g + 7471 * b + half) >> fraction_bits);
    // The rounding constant is one less than a half, so that the largest sum stays below 256.
    cb[x] = (uint8_t)((-11059 * r - 21709 * g + 32768 * b + (128 << fraction_bits) + half - 1) >> fraction_bits);
    cr[x] = (uint8_t)((32768 * r - 27439 * g - 5329 * b + (128 << fraction_bits) + half - 1) >> fraction_bits);
  }
}

static uint8_t clamped(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

void ckernels_ycbcr_to_rgb(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, int halves_chroma, uint8_t *rgb,
                           size_t count) {
  for (size_t x = 0; x < count; x++, rgb += 3) {
    const size_t at = halves_chroma ? x / 2 : x;
    const int32_t luma = y[x] << fraction_bits, u = cb[at] - 128, v = cr[at] - 128;
    rgb[0] = clamped((luma + 91881 * v + half) >> fraction_bits);
    rgb[1] = clamped((luma - 22554 * u - 46802 * v + half) >> fraction_bits);
    rgb[2] = clamped((luma + 116130 * u + half) >> fraction_bits);
  }
}
