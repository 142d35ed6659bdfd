#include "file_source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <jerror.h>

static const uint8_t end_of_image[2] = {0xFF, JPEG_EOI};

static void do_nothing(j_decompress_ptr info) { (void)info; }

static boolean fill(j_decompress_ptr info) {
  struct cjpeg_file_source *self = (struct cjpeg_file_source *)info->src;
  ssize_t count;
  do count = pread(self->descriptor, self->bytes, sizeof self->bytes, (off_t)self->position);
  while (count < 0 && errno == EINTR);
  if (count < 0) cjpeg_fail((struct cjpeg_errors *)info->err, cjpeg_unreadable, "cannot read the file");
  if (count == 0) {
    self->has_ended = 1;
    // Panoramas of some phones end without the marker, which a decoder finds here. A Huffman decoder that lacks bits says so itself, and
    // an arithmetic one does not.
    if (info->input_scan_number == 0 || info->arith_code) WARNMS(info, JWRN_JPEG_EOF);
    self->manager.next_input_byte = end_of_image;
    self->manager.bytes_in_buffer = sizeof end_of_image;
    return TRUE;
  }
  self->position += (uint64_t)count;
  self->manager.next_input_byte = self->bytes;
  self->manager.bytes_in_buffer = (size_t)count;
  return TRUE;
}

static void skip(j_decompress_ptr info, long count) {
  struct cjpeg_file_source *self = (struct cjpeg_file_source *)info->src;
  if (count <= 0) return;
  const size_t left = self->manager.bytes_in_buffer;
  if ((size_t)count <= left) {
    self->manager.next_input_byte += count;
    self->manager.bytes_in_buffer -= (size_t)count;
  } else {
    self->position += (uint64_t)count - left;
    self->manager.bytes_in_buffer = 0;
  }
}

struct jpeg_source_mgr *cjpeg_file_source_open(int descriptor) {
  struct cjpeg_file_source *self = malloc(sizeof *self);
  if (!self) return NULL;
  self->manager = (struct jpeg_source_mgr){
      .init_source = do_nothing,
      .fill_input_buffer = fill,
      .skip_input_data = skip,
      .resync_to_restart = jpeg_resync_to_restart,
      .term_source = do_nothing,
  };
  self->descriptor = descriptor;
  self->has_ended = 0;
  self->position = 0;
  return &self->manager;
}

int cjpeg_file_source_has_ended(const struct jpeg_source_mgr *source) {
  return ((const struct cjpeg_file_source *)source)->has_ended;
}
