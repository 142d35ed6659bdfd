#pragma once

#include "errors.h"

/// A libjpeg source that reads a file in pieces.
struct cjpeg_file_source {
  struct jpeg_source_mgr manager;  // first, because libjpeg passes this pointer to its callbacks
  int descriptor;
  int has_ended;      // whether the file has ended in front of the end of the image
  uint64_t position;  // offset of the next read
  uint8_t bytes[1 << 16];
};

/// Creates a source that starts at the beginning of a file, to be freed with free(); NULL if memory is exhausted. The
/// caller owns the descriptor.
struct jpeg_source_mgr *cjpeg_file_source_open(int descriptor);

/// Whether the file has ended in front of the end of the image.
int cjpeg_file_source_has_ended(const struct jpeg_source_mgr *source);
