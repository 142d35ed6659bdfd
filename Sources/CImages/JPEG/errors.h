#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

#include "CJPEG.h"

/// libjpeg's error manager with the jump target and the failure to report.
struct cjpeg_errors {
  struct jpeg_error_mgr manager;  // first, because libjpeg passes this pointer to its callbacks
  jmp_buf back;
  struct cjpeg_failure *failure;
};

/// Initialises the manager. The caller sets `back` before every libjpeg call and `failure` before every jump.
struct jpeg_error_mgr *cjpeg_errors_start(struct cjpeg_errors *errors);

/// Whether the scans of a progressive image have given every coefficient its last bit.
int cjpeg_is_refined(const struct jpeg_decompress_struct *info);

/// Stores the failure and jumps to `back`.
_Noreturn void cjpeg_fail(struct cjpeg_errors *errors, enum cjpeg_status status, const char *message);
