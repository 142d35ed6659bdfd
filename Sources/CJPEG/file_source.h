#pragma once

#include "errors.h"

/// Hands libjpeg a file piece by piece, so that it is never in memory whole.
struct cjpeg_file_source {
  struct jpeg_source_mgr manager;  // first: libjpeg hands this pointer back
  int descriptor;
  uint64_t position;  // of what is read next
  uint8_t bytes[1 << 16];
};

/// A source from the beginning of a file on, for free(); the descriptor stays the caller's. NULL: no memory.
struct jpeg_source_mgr *cjpeg_file_source_open(int descriptor);
