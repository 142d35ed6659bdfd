#include "CKernels.h"

int64_t ckernels_correlate(const int16_t *a, const int16_t *b, size_t count) {
  int64_t sum = 0;
  // No product exceeds 2048 * 2048: the sum of 511 of them fits into 32 bits with its sign. 496 fill whole vectors.
  const size_t block = 496;
  for (size_t start = 0; start < count; start += block) {
    const size_t end = start + block < count ? start + block : count;
    int32_t partial = 0;
    for (size_t i = start; i < end; i++) partial += (int32_t)a[i] * b[i];
    sum += partial;
  }
  return sum;
}
