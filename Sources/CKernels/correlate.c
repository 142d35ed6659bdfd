#include "CKernels.h"

int64_t ckernels_correlate(const int16_t *a, const int16_t *b, size_t count) {
  int64_t sum = 0;
  // Products of 12-bit samples have 22 bits: the sum of 512 of them fits into 32 bits.
  const size_t block = 512;
  for (size_t start = 0; start < count; start += block) {
    const size_t end = start + block < count ? start + block : count;
    int32_t partial = 0;
    for (size_t i = start; i < end; i++) partial += (int32_t)a[i] * b[i];
    sum += partial;
  }
  return sum;
}
