#include "CKernels.h"

enum { nodes = CKERNELS_CORRECTION_NODES, luma_steps = 256, chroma_steps = CKERNELS_CORRECTION_STEPS };

static uint8_t rounded(uint32_t sum) {
  // Weights of 64 in all, times 256ths of a code.
  const uint32_t value = (sum + (1 << 13)) >> 14;
  return (uint8_t)(value > 255 ? 255 : value);
}

/// Where a pair of chroma samples lies between the nodes: four corners and their weights.
struct place {
  size_t corners[4];
  uint32_t weights[4];
};

static struct place locate(uint8_t u, uint8_t v) {
  const uint32_t fu = u & 7, fv = v & 7;
  const size_t corner = (size_t)(u >> 3) * nodes + (v >> 3);
  return (struct place){
      .corners = {corner, corner + 1, corner + nodes, corner + nodes + 1},
      .weights = {(8 - fu) * (8 - fv), (8 - fu) * fv, fu * (8 - fv), fu * fv},
  };
}

void ckernels_correct_colors(const struct ckernels_planes8 *planes, size_t width, size_t height, int halves_chroma,
                             const uint16_t *luma_table, const uint16_t *chroma_table) {
  const size_t side = halves_chroma ? 2 : 1;
  for (size_t top = 0; top < height; top += side) {
    uint8_t *y_row = planes->y + (ptrdiff_t)top * planes->y_stride;
    uint8_t *u_row = planes->u + (ptrdiff_t)(top / side) * planes->u_stride;
    uint8_t *v_row = planes->v + (ptrdiff_t)(top / side) * planes->v_stride;
    const size_t rows = height - top < side ? height - top : side;
    for (size_t left = 0; left < width; left += side) {
      const struct place place = locate(u_row[left / side], v_row[left / side]);
      const uint16_t *tables[4];
      for (int corner = 0; corner < 4; corner++) tables[corner] = luma_table + place.corners[corner] * luma_steps;
      const size_t columns = width - left < side ? width - left : side;
      uint32_t lumas = 0;
      for (size_t row = 0; row < rows; row++) {
        uint8_t *y = y_row + (ptrdiff_t)row * planes->y_stride + left;
        for (size_t column = 0; column < columns; column++) {
          const uint8_t luma = y[column];
          lumas += luma;
          y[column] = rounded(place.weights[0] * tables[0][luma] + place.weights[1] * tables[1][luma] +
                              place.weights[2] * tables[2][luma] + place.weights[3] * tables[3][luma]);
        }
      }
      const size_t mean = (lumas / (uint32_t)(rows * columns) + 2) >> 2;
      uint32_t u = 0, v = 0;
      for (int corner = 0; corner < 4; corner++) {
        const uint16_t *entry = chroma_table + (place.corners[corner] * chroma_steps + mean) * 2;
        u += place.weights[corner] * entry[0];
        v += place.weights[corner] * entry[1];
      }
      u_row[left / side] = rounded(u);
      v_row[left / side] = rounded(v);
    }
  }
}
