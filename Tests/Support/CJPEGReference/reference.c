#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "CJPEGReference.h"

static void count_message(j_common_ptr codec, int level) {
  if (level < 0) codec->err->num_warnings++;
}

/// Returns a copy of a plane, padded to full blocks by repeating the last column and row.
static uint8_t *padded(const struct cjpegreference_image *image, int index, int across, int down) {
  const int width = index ? image->chroma_width : image->width;
  const int height = index ? image->chroma_height : image->height;
  uint8_t *bytes = malloc((size_t)across * (size_t)down);
  for (int y = 0; bytes && y < down; y++) {
    const uint8_t *row = image->planes[index] + (y < height ? y : height - 1) * image->strides[index];
    memcpy(bytes + (size_t)y * (size_t)across, row, (size_t)width);
    memset(bytes + (size_t)y * (size_t)across + width, row[width - 1], (size_t)(across - width));
  }
  return bytes;
}

/// Prepares an encoder of three components whose luma has `side` times the width and height of chroma.
static void prepare(struct jpeg_compress_struct *encoder, int width, int height, J_COLOR_SPACE space, int quality,
                    int side) {
  encoder->image_width = (JDIMENSION)width;
  encoder->image_height = (JDIMENSION)height;
  encoder->input_components = 3;
  encoder->in_color_space = space;
  jpeg_set_defaults(encoder);
  jpeg_set_quality(encoder, quality, TRUE);
  encoder->comp_info[0].h_samp_factor = encoder->comp_info[0].v_samp_factor = side;
}

int cjpegreference_encode(const uint8_t *rows, int width, int height, int quality, int halves_chroma,
                          int is_progressive, uint8_t **bytes, size_t *count) {
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char *out = NULL;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &out, &size);
  prepare(&encoder, width, height, JCS_RGB, quality, halves_chroma ? 2 : 1);
  encoder.optimize_coding = TRUE;
  if (is_progressive) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = (JSAMPROW)(rows + (size_t)encoder.next_scanline * 3 * (size_t)width);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  *bytes = out;
  *count = size;
  return out == NULL;
}

int cjpegreference_encode_samples(const uint8_t *rows, int width, int height, int components, const uint8_t *ids,
                                  int quality, uint8_t **bytes, size_t *count) {
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char *out = NULL;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &out, &size);
  encoder.image_width = (JDIMENSION)width;
  encoder.image_height = (JDIMENSION)height;
  encoder.input_components = components;
  encoder.in_color_space = JCS_UNKNOWN;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  for (int index = 0; index < components; index++) encoder.comp_info[index].component_id = ids[index];
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = (JSAMPROW)(rows + (size_t)encoder.next_scanline * (size_t)components * (size_t)width);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  *bytes = out;
  *count = size;
  return out == NULL;
}

int cjpegreference_encode_planes(const struct cjpegreference_image *image, int quality, uint8_t **bytes,
                                 size_t *count) {
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char *out = NULL;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &out, &size);
  const int side = image->chroma_width == image->width && image->chroma_height == image->height ? 1 : 2;
  prepare(&encoder, image->width, image->height, JCS_YCbCr, quality, side);
  encoder.dct_method = JDCT_ISLOW;
  encoder.raw_data_in = TRUE;
  jpeg_start_compress(&encoder, TRUE);
  const int mcu = 8 * side, across = (image->width + mcu - 1) / mcu * mcu;
  const int down = (image->height + mcu - 1) / mcu * mcu;
  uint8_t *planes[3];
  for (int index = 0; index < 3; index++)
    planes[index] = padded(image, index, index ? across / side : across, index ? down / side : down);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW rows[3][16];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    for (int index = 0; index < 3; index++) {
      const int factor = index ? side : 1, stride = across / factor;
      for (int row = 0; row < mcu / factor; row++)
        rows[index][row] = planes[index] + ((size_t)encoder.next_scanline / (size_t)factor + (size_t)row) * (size_t)stride;
    }
    jpeg_write_raw_data(&encoder, arrays, (JDIMENSION)mcu);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  for (int index = 0; index < 3; index++) free(planes[index]);
  *bytes = out;
  *count = size;
  return out == NULL;
}

static void open_file(struct jpeg_decompress_struct *decoder, struct jpeg_error_mgr *errors, const uint8_t *bytes,
                      size_t count) {
  decoder->err = jpeg_std_error(errors);
  errors->emit_message = count_message;
  jpeg_create_decompress(decoder);
  jpeg_mem_src(decoder, bytes, count);
  jpeg_read_header(decoder, TRUE);
}

static int components_agree(struct jpeg_decompress_struct *a, struct jpeg_decompress_struct *b, int index,
                            jvirt_barray_ptr one, jvirt_barray_ptr other) {
  const jpeg_component_info *x = &a->comp_info[index], *y = &b->comp_info[index];
  if (x->h_samp_factor != y->h_samp_factor || x->v_samp_factor != y->v_samp_factor ||
      x->width_in_blocks != y->width_in_blocks || x->height_in_blocks != y->height_in_blocks ||
      memcmp(x->quant_table->quantval, y->quant_table->quantval, sizeof x->quant_table->quantval) != 0)
    return 0;
  for (JDIMENSION row = 0; row < x->height_in_blocks; row++) {
    JBLOCKARRAY p = a->mem->access_virt_barray((j_common_ptr)a, one, row, 1, FALSE);
    JBLOCKARRAY q = b->mem->access_virt_barray((j_common_ptr)b, other, row, 1, FALSE);
    if (memcmp(p[0], q[0], x->width_in_blocks * sizeof(JBLOCK)) != 0) return 0;
  }
  return 1;
}

int cjpegreference_agree(const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count) {
  struct jpeg_decompress_struct one, other;
  struct jpeg_error_mgr one_errors, other_errors;
  open_file(&one, &one_errors, a, a_count);
  open_file(&other, &other_errors, b, b_count);
  jvirt_barray_ptr *p = jpeg_read_coefficients(&one), *q = jpeg_read_coefficients(&other);
  int agree = one.num_components == other.num_components && one.image_width == other.image_width &&
              one.image_height == other.image_height && one.jpeg_color_space == other.jpeg_color_space;
  for (int index = 0; agree && index < one.num_components; index++)
    agree = components_agree(&one, &other, index, p[index], q[index]);
  agree = agree && one_errors.num_warnings == 0 && other_errors.num_warnings == 0;
  jpeg_destroy_decompress(&one);
  jpeg_destroy_decompress(&other);
  return agree;
}
