#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

#include "CJPEG.h"

/// libjpeg's error manager with the way back and what to say there.
struct cjpeg_errors {
  struct jpeg_error_mgr manager;  // first: libjpeg hands this pointer back
  jmp_buf back;
  struct cjpeg_failure *failure;
};

/// Prepares the manager; the caller sets `back` before every libjpeg call and `failure` before every jump.
struct jpeg_error_mgr *cjpeg_errors_start(struct cjpeg_errors *errors);

/// Says what failed and jumps back.
_Noreturn void cjpeg_fail(struct cjpeg_errors *errors, enum cjpeg_status status, const char *message);
