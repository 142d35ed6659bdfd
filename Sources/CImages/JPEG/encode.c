#include <stdlib.h>

#include "errors.h"

enum { initial_capacity = 64 * 1024 };

/// The state of an encoding. It is in memory because longjmp does not restore local variables.
struct encoder {
  struct jpeg_compress_struct info;
  struct jpeg_destination_mgr destination;
  struct cjpeg_errors errors;
  uint8_t *bytes;
  size_t capacity;
};

// A replacement for jpeg_mem_dest, which does not expose its memory until the end, so that an error would leak it.
static void reserve(struct encoder *encoder, size_t capacity, size_t used) {
  uint8_t *bytes = realloc(encoder->bytes, capacity);
  if (!bytes) cjpeg_fail(&encoder->errors, cjpeg_out_of_memory, "out of memory for the encoded image");
  encoder->bytes = bytes;
  encoder->capacity = capacity;
  encoder->destination.next_output_byte = bytes + used;
  encoder->destination.free_in_buffer = capacity - used;
}

static void start_output(j_compress_ptr info) { reserve(info->client_data, initial_capacity, 0); }

static boolean grow_output(j_compress_ptr info) {
  struct encoder *encoder = info->client_data;
  reserve(encoder, 2 * encoder->capacity, encoder->capacity);
  return TRUE;
}

static void end_output(j_compress_ptr info) { (void)info; }

static void encode(struct encoder *encoder, const struct cjpeg_image *image) {
  struct jpeg_compress_struct *info = &encoder->info;
  jpeg_create_compress(info);
  info->client_data = encoder;
  encoder->destination.init_destination = start_output;
  encoder->destination.empty_output_buffer = grow_output;
  encoder->destination.term_destination = end_output;
  info->dest = &encoder->destination;
  info->image_width = image->width;
  info->image_height = image->height;
  info->input_components = 3;
  info->in_color_space = JCS_RGB;
  jpeg_set_defaults(info);
  jpeg_set_quality(info, image->quality, TRUE);
  info->optimize_coding = TRUE;
  if (!image->halves_chroma) {
    info->comp_info[0].h_samp_factor = 1;
    info->comp_info[0].v_samp_factor = 1;
  }
  if (image->is_progressive) jpeg_simple_progression(info);
  jpeg_start_compress(info, TRUE);
  while (info->next_scanline < info->image_height) {
    JSAMPROW row = (JSAMPROW)(image->rows + info->next_scanline * image->stride);
    jpeg_write_scanlines(info, &row, 1);
  }
  jpeg_finish_compress(info);
}

enum cjpeg_status cjpeg_encode(const struct cjpeg_image *image, uint8_t **bytes, size_t *count,
                               struct cjpeg_failure *failure) {
  *failure = (struct cjpeg_failure){.status = cjpeg_ok};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return failure->status = cjpeg_out_of_memory;
  encoder->info.err = cjpeg_errors_start(&encoder->errors);
  encoder->errors.failure = failure;
  if (setjmp(encoder->errors.back) == 0) encode(encoder, image);
  jpeg_destroy_compress(&encoder->info);
  if (failure->status == cjpeg_ok) {
    *bytes = encoder->bytes;
    *count = encoder->capacity - encoder->destination.free_in_buffer;
  } else {
    free(encoder->bytes);
  }
  free(encoder);
  return failure->status;
}

void cjpeg_free(uint8_t *bytes) { free(bytes); }
