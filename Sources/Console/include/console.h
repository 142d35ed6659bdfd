#pragma once

#include <stddef.h>

/// A file of the console, as browsers get it.
struct console_file {
  const char *name;
  /// All bytes, which are text, and a zero.
  const char *text;
};

/// Returns the files of the console, and sets `*count` to their number.
const struct console_file *console_files(size_t *count);
