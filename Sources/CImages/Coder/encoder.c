// The encoder: transforms the image strip by strip, tokenises the coefficients for every scan, and then writes the
// file.

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/// The maximum width and height, as in libjpeg (JPEG_MAX_DIMENSION).
enum { max_side = 65500 };

/// The scans of an image.
///
/// The last scan adds the lowest bit of luma's AC, and the first band of AC ends at index 9. For photographs at
/// qualities 30 to 95 this was the best compromise among scripts with one refinement scan; scripts without one take up
/// to four percent more.
static const cjpegcoder_scan script[CJPEGCODER_SCANS] = {
  {CJPEGCODER_DC_SCAN, 0, 0, 0, 0},      {CJPEGCODER_FIRST_SCAN, 0, 1, 9, 1},
  {CJPEGCODER_FIRST_SCAN, 2, 1, 63, 0},  {CJPEGCODER_FIRST_SCAN, 1, 1, 63, 0},
  {CJPEGCODER_FIRST_SCAN, 0, 10, 63, 1}, {CJPEGCODER_REFINEMENT_SCAN, 0, 1, 63, 0}};

/// One component of the image.
typedef struct {
  /// Its samples.
  const uint8_t *samples;
  /// The distance between their rows.
  ptrdiff_t stride;
  /// Its size in samples.
  int width, height;
  /// Its size in blocks that hold samples.
  int blocks_across, blocks_down;
  /// Its blocks in an MCU, in each direction.
  int sampling;
  /// Its blocks in a row of MCUs.
  int padded_across;
  /// The DC values of one row of MCUs, block row by block row.
  int16_t *dc;
} component_plane;

/// The state of an encoding.
typedef struct {
  /// The inner loops.
  const cjpegcoder_kernels *kernels;
  /// The luma and the chroma quantiser.
  cjpegcoder_quantiser quantisers[2];
  /// The components.
  component_plane components[CJPEGCODER_COMPONENTS];
  /// Whether the chroma components have half the width and height.
  bool halved_chroma;
  /// The size in MCUs.
  int mcus_across, mcus_down;
  /// The tokens of each scan, and their count.
  cjpegcoder_stream streams[CJPEGCODER_SCANS];
  int stream_count;
  /// The memory of all components' DC values.
  int16_t *dc_memory;
  /// Samples of a strip that extends beyond the image.
  uint8_t padded[8][CJPEGCODER_STRIP * 8];
  /// The coefficients and masks of one strip.
  int16_t coefficients[CJPEGCODER_STRIP][CJPEGCODER_BLOCK];
  cjpegcoder_masks masks[CJPEGCODER_STRIP];
} encoder;

static cjpegcoder_kernels portable_kernels(void) {
  return (cjpegcoder_kernels){cjpegcoder_transform_portable, cjpegcoder_tokenise_first_portable,
                              cjpegcoder_tokenise_refinement_portable, cjpegcoder_emit_portable};
}

static cjpegcoder_kernels best_kernels(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt")) {
    return (cjpegcoder_kernels){cjpegcoder_transform_avx2, cjpegcoder_tokenise_first_fast,
                                cjpegcoder_tokenise_refinement_fast, cjpegcoder_emit_fast};
  }
#endif
  return portable_kernels();
}

/// Whether the encoder accepts an image.
static bool is_valid(const cjpegcoder_image *image) {
  int width = image->width, height = image->height;
  if (width < 1 || width > max_side || height < 1 || height > max_side) { return false; }
  for (int index = 0; index < CJPEGCODER_COMPONENTS; index++) {
    ptrdiff_t plane_width = index ? image->chroma_width : width;
    // A negative stride means that the bottom row is stored first.
    ptrdiff_t stride = image->stride[index];
    if (!image->plane[index] || (stride < plane_width && stride > -plane_width)) { return false; }
  }
  return (image->chroma_width == width && image->chroma_height == height) ||
         (image->chroma_width == (width + 1) / 2 && image->chroma_height == (height + 1) / 2);
}

/// Lays out components and scans and allocates; false when memory is exhausted.
static bool prepare(encoder *state, const cjpegcoder_image *image, int quality) {
  cjpegcoder_prepare_quantiser(&state->quantisers[0], false, quality);
  cjpegcoder_prepare_quantiser(&state->quantisers[1], true, quality);
  state->halved_chroma = image->chroma_width != image->width || image->chroma_height != image->height;
  int mcu_side = state->halved_chroma ? 16 : 8;
  state->mcus_across = (image->width + mcu_side - 1) / mcu_side;
  state->mcus_down = (image->height + mcu_side - 1) / mcu_side;
  size_t dc_count = 0;
  for (int index = 0; index < CJPEGCODER_COMPONENTS; index++) {
    component_plane *component = &state->components[index];
    component->samples = image->plane[index];
    component->stride = image->stride[index];
    component->width = index ? image->chroma_width : image->width;
    component->height = index ? image->chroma_height : image->height;
    component->blocks_across = (component->width + 7) / 8;
    component->blocks_down = (component->height + 7) / 8;
    component->sampling = index == 0 && state->halved_chroma ? 2 : 1;
    component->padded_across = state->mcus_across * component->sampling;
    dc_count += (size_t)component->padded_across * (size_t)component->sampling;
  }
  state->dc_memory = malloc(dc_count * sizeof *state->dc_memory);
  if (!state->dc_memory) { return false; }
  int16_t *dc = state->dc_memory;
  for (int index = 0; index < CJPEGCODER_COMPONENTS; index++) {
    component_plane *component = &state->components[index];
    component->dc = dc;
    dc += (size_t)component->padded_across * (size_t)component->sampling;
  }
  for (; state->stream_count < CJPEGCODER_SCANS; state->stream_count++) {
    state->streams[state->stream_count].scan = script[state->stream_count];
    if (!cjpegcoder_stream_grow(&state->streams[state->stream_count])) { return false; }
  }
  return true;
}

/// Copies a strip that extends beyond its component and repeats the last column and row (T.81 A.2.4).
static void pad_strip(encoder *state, const component_plane *component, int x, int y, int columns) {
  int inside = component->width - x < columns ? component->width - x : columns;
  for (int row = 0; row < 8; row++) {
    int source = y + row < component->height ? y + row : component->height - 1;
    const uint8_t *samples = component->samples + source * component->stride + x;
    memcpy(state->padded[row], samples, (size_t)inside);
    memset(state->padded[row] + inside, samples[inside - 1], (size_t)(columns - inside));
  }
}

/// Transforms one row of blocks, stores its DC values and tokenises its AC; false when memory is exhausted.
static bool encode_block_row(encoder *state, int index, int block_row, int16_t *dc) {
  const component_plane *component = &state->components[index];
  int y = block_row * 8;
  for (int first = 0; first < component->blocks_across; first += CJPEGCODER_STRIP) {
    int left = component->blocks_across - first;
    int blocks = left < CJPEGCODER_STRIP ? left : CJPEGCODER_STRIP, pairs = (blocks + 1) / 2;
    int x = first * 8, columns = pairs * 16;
    const uint8_t *samples = component->samples + y * component->stride + x;
    ptrdiff_t stride = component->stride;
    if (x + columns > component->width || y + 8 > component->height) {
      pad_strip(state, component, x, y, columns);
      samples = state->padded[0];
      stride = sizeof state->padded[0];
    }
    state->kernels->transform(samples, stride, (size_t)pairs, &state->quantisers[index ? 1 : 0],
                              state->coefficients, state->masks);
    for (int block = 0; block < blocks; block++) {
      dc[first + block] = state->coefficients[block][CJPEGCODER_BLOCK - 1];
    }
    const int16_t(*coefficients)[CJPEGCODER_BLOCK] = (const int16_t(*)[CJPEGCODER_BLOCK])state->coefficients;
    for (int scan = 0; scan < state->stream_count; scan++) {
      cjpegcoder_stream *stream = &state->streams[scan];
      if (stream->scan.kind == CJPEGCODER_DC_SCAN || stream->scan.component != index) { continue; }
      cjpegcoder_tokenise *tokenise = stream->scan.kind == CJPEGCODER_FIRST_SCAN
                                        ? state->kernels->tokenise_first
                                        : state->kernels->tokenise_refinement;
      if (!tokenise(stream, coefficients, state->masks, (size_t)blocks)) { return false; }
    }
  }
  return true;
}

/// Encodes the blocks of one component in a row of MCUs.
///
/// Interleaved scans also contain the blocks that complete the last MCUs (T.81 A.2.4). They repeat the DC of the block
/// before them, which takes the fewest bits.
static bool encode_component_row(encoder *state, int index, int mcu_row) {
  const component_plane *component = &state->components[index];
  for (int row = 0; row < component->sampling; row++) {
    int16_t *dc = component->dc + (size_t)row * (size_t)component->padded_across;
    int block_row = mcu_row * component->sampling + row;
    if (block_row < component->blocks_down) {
      if (!encode_block_row(state, index, block_row, dc)) { return false; }
      for (int block = component->blocks_across; block < component->padded_across; block++) {
        dc[block] = dc[block - 1];
      }
    } else {
      const int16_t *above = dc - component->padded_across;
      for (int block = 0; block < component->padded_across; block++) {
        dc[block] = above[block / component->sampling * component->sampling + component->sampling - 1];
      }
    }
  }
  return true;
}

/// Tokenises the DC values of a row of MCUs in the order of an interleaved scan.
static bool tokenise_dc_row(encoder *state) {
  cjpegcoder_stream *stream = &state->streams[0];
  for (int mcu = 0; mcu < state->mcus_across; mcu++) {
    for (int index = 0; index < CJPEGCODER_COMPONENTS; index++) {
      const component_plane *component = &state->components[index];
      const int16_t *dc = component->dc + (size_t)mcu * (size_t)component->sampling;
      for (int row = 0; row < component->sampling; row++, dc += component->padded_across) {
        for (int column = 0; column < component->sampling; column++) {
          if (!cjpegcoder_tokenise_dc(stream, index, dc[column])) { return false; }
        }
      }
    }
  }
  return true;
}

/// Collects the tokens of the image and writes the file; false when memory is exhausted.
static bool encode(encoder *state, const cjpegcoder_image *image, cjpegcoder_buffer *out) {
  for (int mcu_row = 0; mcu_row < state->mcus_down; mcu_row++) {
    for (int index = 0; index < CJPEGCODER_COMPONENTS; index++) {
      if (!encode_component_row(state, index, mcu_row)) { return false; }
    }
    if (!tokenise_dc_row(state)) { return false; }
  }
  bool written = cjpegcoder_write_headers(out, image, state->halved_chroma, state->quantisers);
  for (int scan = 0; written && scan < state->stream_count; scan++) {
    cjpegcoder_stream *stream = &state->streams[scan];
    written = cjpegcoder_stream_finish(stream) &&
              cjpegcoder_write_scan(out, stream, state->kernels->emit);
  }
  return written && cjpegcoder_write_end(out);
}

static int encode_with(const cjpegcoder_image *image, int quality, cjpegcoder_buffer *out,
                           const cjpegcoder_kernels *kernels) {
  if (!out) { return CJPEGCODER_BAD_ARGUMENT; }
  out->count = 0;
  if (!image || quality < 1 || quality > 100 || !is_valid(image)) {
    cjpegcoder_free(out);
    return CJPEGCODER_BAD_ARGUMENT;
  }
  encoder *state = calloc(1, sizeof *state);
  bool written = false;
  if (state) {
    state->kernels = kernels;
    written = prepare(state, image, quality) && encode(state, image, out);
    for (int scan = 0; scan < state->stream_count; scan++) { cjpegcoder_stream_free(&state->streams[scan]); }
    free(state->dc_memory);
    free(state);
  }
  if (!written) { cjpegcoder_free(out); }
  return written ? CJPEGCODER_OK : CJPEGCODER_OUT_OF_MEMORY;
}

int cjpegcoder_encode(const cjpegcoder_image *image, int quality, int portable, cjpegcoder_buffer *out) {
  const cjpegcoder_kernels kernels = portable ? portable_kernels() : best_kernels();
  return encode_with(image, quality, out, &kernels);
}
