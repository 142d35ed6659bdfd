#include "CKernels.h"

// The light of white is 1 << 20, signals have 14 bits, matrices and factors have 16 fraction bits.
enum {
  node_bits = CKERNELS_LIGHT_STEP_BITS,
  node_half = 1 << (node_bits - 1),
  one = CKERNELS_LIGHT_NODES << node_bits,
};
enum { full_light = 1 << 20, dark_light = CKERNELS_SIGNAL_NODES, bright_bits = 8, factor_bits = 12 };

/// The tables of a conversion.
struct conversion {
  const struct ckernels_gamut *gamut;
  const int32_t *light;
  const uint16_t *dark, *bright;
  const uint32_t *factors;
};

struct color {
  int32_t r, g, b;
};

static inline int32_t clamp(int64_t value, int32_t max) { return value < 0 ? 0 : value > max ? max : (int32_t)value; }

static inline uint32_t code(uint16_t sample) { return sample < 1024 ? sample : 1023; }

static inline int32_t light(const struct conversion *conversion, int32_t scaled) {
  const int32_t position = clamp((scaled + 128) >> 8, one);
  const int32_t *node = conversion->light + (position >> node_bits);
  return node[0] + (((node[1] - node[0]) * (position & ((1 << node_bits) - 1)) + node_half) >> node_bits);
}

static inline int64_t converted(const int32_t *row, struct color from) {
  const int64_t sum = (int64_t)row[0] * from.r + (int64_t)row[1] * from.g + (int64_t)row[2] * from.b;
  return (sum + (1 << 15)) >> 16;
}

// The slope is steepest at black: there the table has an entry for every value of light.
static inline int32_t signal(const struct conversion *conversion, int64_t light) {
  const int32_t shown = clamp(light, full_light);
  if (shown < dark_light) return conversion->dark[shown];
  return conversion->bright[(shown + (1 << (bright_bits - 1))) >> bright_bits];
}

static inline struct color signals(const struct conversion *conversion, struct color from) {
  const int32_t *rows = conversion->gamut->rows;
  int64_t r = converted(rows, from), g = converted(rows + 3, from), b = converted(rows + 6, from);
  if (conversion->factors) {
    const int64_t brightest = r > g ? (r > b ? r : b) : (g > b ? g : b);
    const int64_t factor =
        conversion->factors[clamp((brightest + (1 << (factor_bits - 1))) >> factor_bits, CKERNELS_FACTOR_NODES)];
    r = (r * factor) >> 16;
    g = (g * factor) >> 16;
    b = (b * factor) >> 16;
  }
  return (struct color){signal(conversion, r), signal(conversion, g), signal(conversion, b)};
}

static inline int32_t weighted_sum(const int32_t *row, struct color color, int shift) {
  const int64_t sum = (int64_t)row[0] * color.r + (int64_t)row[1] * color.g + (int64_t)row[2] * color.b;
  return (int32_t)((sum + ((int64_t)1 << (shift - 1))) >> shift);
}

void ckernels_convert_gamut(const struct ckernels_planes10 *source, const struct ckernels_planes8 *target, size_t width,
                            size_t height, const struct ckernels_gamut *gamut, const int32_t *light_nodes,
                            const uint16_t *dark, const uint16_t *bright, const uint32_t *factors) {
  const struct conversion conversion = {gamut, light_nodes, dark, bright, factors};
  for (size_t row = 0; row < height; row += 2) {
    const uint16_t *y = (const uint16_t *)((const char *)source->y + (ptrdiff_t)row * source->y_stride);
    const uint16_t *u = (const uint16_t *)((const char *)source->u + (ptrdiff_t)(row / 2) * source->u_stride);
    const uint16_t *v = (const uint16_t *)((const char *)source->v + (ptrdiff_t)(row / 2) * source->v_stride);
    const uint16_t *lower = (const uint16_t *)((const char *)y + source->y_stride);
    uint8_t *out = target->y + (ptrdiff_t)row * target->y_stride, *out_lower = out + target->y_stride;
    uint8_t *out_u = target->u + (ptrdiff_t)(row / 2) * target->u_stride;
    uint8_t *out_v = target->v + (ptrdiff_t)(row / 2) * target->v_stride;
    for (size_t x = 0; x < width; x += 2) {
      const int32_t cb = (int32_t)code(u[x / 2]) - 512, cr = (int32_t)code(v[x / 2]) - 512;
      const struct color shift = {gamut->red_v * cr, gamut->green_u * cb + gamut->green_v * cr, gamut->blue_u * cb};
      const uint32_t lumas[4] = {code(y[x]), code(y[x + 1]), code(lower[x]), code(lower[x + 1])};
      uint8_t *const outs[4] = {out + x, out + x + 1, out_lower + x, out_lower + x + 1};
      struct color sum = {0, 0, 0};
      for (int i = 0; i < 4; i++) {
        const int32_t luma = gamut->luma * ((int32_t)lumas[i] - gamut->black);
        const struct color from = {light(&conversion, luma + shift.r), light(&conversion, luma + shift.g),
                                   light(&conversion, luma + shift.b)};
        const struct color to = signals(&conversion, from);
        *outs[i] = (uint8_t)(16 + weighted_sum(gamut->to_y, to, 30));
        sum.r += to.r;
        sum.g += to.g;
        sum.b += to.b;
      }
      out_u[x / 2] = (uint8_t)(128 + weighted_sum(gamut->to_u, sum, 32));
      out_v[x / 2] = (uint8_t)(128 + weighted_sum(gamut->to_v, sum, 32));
    }
  }
}
