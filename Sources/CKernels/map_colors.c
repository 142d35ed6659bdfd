#include "CKernels.h"

// Chroma codes have ten bits: six select the node, four are the fraction between it and the next one.
enum { fraction_bits = 4, fractions = 1 << fraction_bits, nodes = CKERNELS_CHROMA_NODES };

// The position between four nodes in both chroma directions; the weights have a sum of 256.
struct position {
  size_t node;
  uint32_t weights[4];
};

static inline struct position find(uint32_t u, uint32_t v) {
  const uint32_t across = u & (fractions - 1), down = v & (fractions - 1);
  return (struct position){
      .node = (size_t)(u >> fraction_bits) * nodes + (v >> fraction_bits),
      .weights = {(fractions - across) * (fractions - down), (fractions - across) * down,
                  across * (fractions - down), across * down},
  };
}

static inline uint32_t clamp(uint32_t code) { return code < 1024 ? code : 1023; }

static inline uint8_t luma(const uint16_t *corners[4], const uint32_t weights[4], uint32_t y) {
  const size_t index = (y + 1) >> 1;
  const uint32_t sum = corners[0][index] * weights[0] + corners[1][index] * weights[1] +
                       corners[2][index] * weights[2] + corners[3][index] * weights[3];
  // 256 for the weights, 256 for the unit of the table.
  return (uint8_t)((sum + (1 << 15)) >> 16);
}

static inline uint8_t chroma(const uint16_t *table, const struct position *position, uint32_t y, size_t component) {
  static const size_t steps[4] = {0, 1, nodes, nodes + 1};
  const size_t index = y >> 4;
  const uint32_t between = y & 15;
  uint32_t sum = 0;
  for (int i = 0; i < 4; i++) {
    const uint16_t *entry = table + ((position->node + steps[i]) * CKERNELS_CHROMA_STEPS + index) * 2 + component;
    sum += position->weights[i] * (entry[0] * (16 - between) + entry[2] * between);
  }
  return (uint8_t)((sum + (1 << 19)) >> 20);
}

void ckernels_map_colors(const struct ckernels_planes10 *source, const struct ckernels_planes8 *target, size_t width,
                         size_t height, const uint16_t *luma_table, const uint16_t *chroma_table) {
  static const size_t steps[4] = {0, 1, nodes, nodes + 1};
  for (size_t row = 0; row < height; row += 2) {
    const uint16_t *upper = (const uint16_t *)((const char *)source->y + (ptrdiff_t)row * source->y_stride);
    const uint16_t *lower = (const uint16_t *)((const char *)upper + source->y_stride);
    const uint16_t *u = (const uint16_t *)((const char *)source->u + (ptrdiff_t)(row / 2) * source->u_stride);
    const uint16_t *v = (const uint16_t *)((const char *)source->v + (ptrdiff_t)(row / 2) * source->v_stride);
    uint8_t *out_upper = target->y + (ptrdiff_t)row * target->y_stride, *out_lower = out_upper + target->y_stride;
    uint8_t *out_u = target->u + (ptrdiff_t)(row / 2) * target->u_stride;
    uint8_t *out_v = target->v + (ptrdiff_t)(row / 2) * target->v_stride;
    for (size_t x = 0; x < width; x += 2) {
      const struct position position = find(clamp(u[x / 2]), clamp(v[x / 2]));
      const uint16_t *corners[4];
      for (int i = 0; i < 4; i++) corners[i] = luma_table + (position.node + steps[i]) * CKERNELS_LUMA_STEPS;
      const uint32_t y[4] = {clamp(upper[x]), clamp(upper[x + 1]), clamp(lower[x]), clamp(lower[x + 1])};
      out_upper[x] = luma(corners, position.weights, y[0]);
      out_upper[x + 1] = luma(corners, position.weights, y[1]);
      out_lower[x] = luma(corners, position.weights, y[2]);
      out_lower[x + 1] = luma(corners, position.weights, y[3]);
      const uint32_t mean = (y[0] + y[1] + y[2] + y[3] + 2) >> 2;
      out_u[x / 2] = chroma(chroma_table, &position, mean, 0);
      out_v[x / 2] = chroma(chroma_table, &position, mean, 1);
    }
  }
}
