#include <stdlib.h>

#include "errors.h"
#include "file_source.h"

struct cjpeg_decoder {
  struct jpeg_decompress_struct info;
  struct jpeg_progress_mgr progress;
  struct cjpeg_errors errors;
  struct jpeg_source_mgr *source;
  int scan_limit;
  int has_started;
};

// libjpeg passes its own struct; `client_data` points to the decoder.
static void count_scans(j_common_ptr common) {
  const struct jpeg_decompress_struct *info = (struct jpeg_decompress_struct *)common;
  struct cjpeg_decoder *decoder = info->client_data;
  if (info->input_scan_number > decoder->scan_limit)
    cjpeg_fail(&decoder->errors, cjpeg_too_many_scans, "more scans than the limit");
}

static enum cjpeg_color color_of(struct cjpeg_decoder *decoder) {
  switch (decoder->info.jpeg_color_space) {
    case JCS_GRAYSCALE: return cjpeg_grey;
    case JCS_YCbCr: return cjpeg_ycbcr;
    case JCS_RGB: return cjpeg_rgb;
    case JCS_CMYK:
    case JCS_YCCK: return cjpeg_cmyk;
    default: cjpeg_fail(&decoder->errors, cjpeg_unsupported, "an unknown colour space");
  }
}

static uint64_t decoded_pixels(const struct jpeg_decompress_struct *info) {
  return (uint64_t)info->output_width * info->output_height;
}

// Chooses the largest of eight to one eighths of the width and the height that has at most `pixels`.
static void scale(struct cjpeg_decoder *decoder, uint64_t pixels) {
  struct jpeg_decompress_struct *info = &decoder->info;
  info->scale_num = info->scale_denom = DCTSIZE;
  jpeg_calc_output_dimensions(info);
  while (decoded_pixels(info) > pixels && info->scale_num > 1) {
    info->scale_num--;
    jpeg_calc_output_dimensions(info);
  }
  if (decoded_pixels(info) > pixels)
    cjpeg_fail(&decoder->errors, cjpeg_too_many_pixels, "more pixels than the limit at an eighth of the edges");
}

static void check_pixels(struct cjpeg_decoder *decoder, const struct cjpeg_limits *limits) {
  struct jpeg_decompress_struct *info = &decoder->info;
  const uint64_t pixels = (uint64_t)info->image_width * info->image_height;
  decoder->errors.failure->width = info->image_width;
  decoder->errors.failure->height = info->image_height;
  if (!jpeg_has_multiple_scans(info)) {
    if (pixels > limits->header_pixels)
      cjpeg_fail(&decoder->errors, cjpeg_too_many_pixels, "more pixels than the limit");
  } else {
    // Without a limit of its own for one scan, `pixels` limits all images.
    if (pixels > limits->pixels && limits->header_pixels == limits->pixels)
      cjpeg_fail(&decoder->errors, cjpeg_too_many_pixels, "more pixels than the limit");
    if (pixels > limits->pixels || pixels > limits->buffered_pixels)
      cjpeg_fail(&decoder->errors, cjpeg_too_many_buffered_pixels, "more pixels than the limit for several scans");
  }
}

static void read_header(struct cjpeg_decoder *decoder, int descriptor, const struct cjpeg_limits *limits,
                        struct cjpeg_header *header) {
  struct jpeg_decompress_struct *info = &decoder->info;
  jpeg_create_decompress(info);
  info->client_data = decoder;
  info->progress = &decoder->progress;
  decoder->progress.progress_monitor = count_scans;
  info->src = decoder->source = cjpeg_file_source_open(descriptor);
  if (!info->src) cjpeg_fail(&decoder->errors, cjpeg_out_of_memory, "out of memory for a buffer");
  jpeg_read_header(info, TRUE);
  check_pixels(decoder, limits);
  if (info->data_precision != 8) cjpeg_fail(&decoder->errors, cjpeg_unsupported, "samples of more than 8 bits");
  scale(decoder, limits->pixels);
  *header = (struct cjpeg_header){
      .width = info->image_width,
      .height = info->image_height,
      .decoded_width = info->output_width,
      .decoded_height = info->output_height,
      .components = info->num_components,
      .color = color_of(decoder),
  };
  info->out_color_space = header->color == cjpeg_cmyk ? JCS_CMYK : JCS_RGB;
}

enum cjpeg_status cjpeg_open(int descriptor, const struct cjpeg_limits *limits, struct cjpeg_decoder **decoder,
                             struct cjpeg_header *header, struct cjpeg_failure *failure) {
  *failure = (struct cjpeg_failure){.status = cjpeg_ok};
  struct cjpeg_decoder *opened = calloc(1, sizeof *opened);
  if (!opened) return failure->status = cjpeg_out_of_memory;
  opened->info.err = cjpeg_errors_start(&opened->errors);
  opened->errors.failure = failure;
  opened->scan_limit = limits->scans;
  if (setjmp(opened->errors.back) == 0) read_header(opened, descriptor, limits, header);
  if (failure->status == cjpeg_ok)
    *decoder = opened;
  else
    cjpeg_close(opened);
  return failure->status;
}

// Of an image in several scans, all are read here.
static void start(struct cjpeg_decoder *decoder) {
  struct jpeg_decompress_struct *info = &decoder->info;
  decoder->has_started = 1;
  jpeg_start_decompress(info);
  if (jpeg_has_multiple_scans(info) && cjpeg_file_source_has_ended(info->src) && !cjpeg_is_refined(info))
    cjpeg_fail(&decoder->errors, cjpeg_truncated, "scans are missing");
}

static void read_rows(struct cjpeg_decoder *decoder, uint8_t *rows, size_t stride, uint32_t row_count) {
  struct jpeg_decompress_struct *info = &decoder->info;
  if (!decoder->has_started) start(decoder);
  for (uint32_t done = 0; done < row_count;) {
    JSAMPROW row = rows + done * stride;
    const JDIMENSION read = jpeg_read_scanlines(info, &row, 1);
    if (read == 0) cjpeg_fail(&decoder->errors, cjpeg_malformed, "the image has no more rows");
    done += read;
  }
  if (info->output_scanline == info->output_height) jpeg_finish_decompress(info);
}

enum cjpeg_status cjpeg_read(struct cjpeg_decoder *decoder, uint8_t *rows, size_t stride, uint32_t row_count,
                             struct cjpeg_failure *failure) {
  *failure = (struct cjpeg_failure){.status = cjpeg_ok};
  decoder->errors.failure = failure;
  if (setjmp(decoder->errors.back) == 0) read_rows(decoder, rows, stride, row_count);
  return failure->status;
}

static void start_planes(struct cjpeg_decoder *decoder, struct cjpeg_component *components) {
  struct jpeg_decompress_struct *info = &decoder->info;
  if (info->jpeg_color_space != JCS_GRAYSCALE && info->jpeg_color_space != JCS_YCbCr)
    cjpeg_fail(&decoder->errors, cjpeg_unsupported, "planes of an unsupported colour space");
  info->raw_data_out = TRUE;
  info->out_color_space = info->jpeg_color_space;
  start(decoder);
  for (int index = 0; index < info->num_components; index++) {
    const jpeg_component_info *component = &info->comp_info[index];
    components[index] = (struct cjpeg_component){
        .width = component->downsampled_width,
        .height = component->downsampled_height,
        .row_bytes = component->width_in_blocks * (uint32_t)component->DCT_scaled_size,
        .band_rows = (uint32_t)(component->v_samp_factor * component->DCT_scaled_size),
    };
  }
}

enum cjpeg_status cjpeg_start_planes(struct cjpeg_decoder *decoder, struct cjpeg_component components[3],
                                     struct cjpeg_failure *failure) {
  *failure = (struct cjpeg_failure){.status = cjpeg_ok};
  decoder->errors.failure = failure;
  if (setjmp(decoder->errors.back) == 0) start_planes(decoder, components);
  return failure->status;
}

static void read_band(struct cjpeg_decoder *decoder, uint8_t *const *const *rows) {
  struct jpeg_decompress_struct *info = &decoder->info;
  const JDIMENSION band = (JDIMENSION)(info->max_v_samp_factor * info->min_DCT_scaled_size);
  if (info->output_scanline >= info->output_height)
    cjpeg_fail(&decoder->errors, cjpeg_malformed, "the image has no more rows");
  jpeg_read_raw_data(info, (JSAMPIMAGE)rows, band);
  if (info->output_scanline >= info->output_height) jpeg_finish_decompress(info);
}

enum cjpeg_status cjpeg_read_band(struct cjpeg_decoder *decoder, uint8_t *const *const rows[3],
                                  struct cjpeg_failure *failure) {
  *failure = (struct cjpeg_failure){.status = cjpeg_ok};
  decoder->errors.failure = failure;
  if (setjmp(decoder->errors.back) == 0) read_band(decoder, rows);
  return failure->status;
}

void cjpeg_close(struct cjpeg_decoder *decoder) {
  if (!decoder) return;
  jpeg_destroy_decompress(&decoder->info);
  free(decoder->source);
  free(decoder);
}
