#include "errors.h"

#include <string.h>

#include <jerror.h>

// Encoders pad, and decoders stop at the last block. More bytes than this behind it mean that blocks are missing.
enum { padding_limit = 64, end_of_image = 0xD9 };

static enum cjpeg_status classify(int code) {
  switch (code) {
    case JERR_OUT_OF_MEMORY: return cjpeg_out_of_memory;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF:
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER: return cjpeg_truncated;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED: return cjpeg_unsupported;
    case JERR_IMAGE_TOO_BIG: return cjpeg_too_large;
    default: return cjpeg_malformed;
  }
}

static _Noreturn void fail_with_message(j_common_ptr info) {
  struct cjpeg_errors *errors = (struct cjpeg_errors *)info->err;
  char message[JMSG_LENGTH_MAX];
  errors->manager.format_message(info, message);
  cjpeg_fail(errors, classify(errors->manager.msg_code), message);
}

// libjpeg continues after damage and fills blocks with grey: a warning is an error here unless it cannot affect pixels.
static void handle_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const struct jpeg_error_mgr *manager = info->err;
  switch (manager->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    // A sequential scan has no use for its spectral selection and approximation; some cameras write zeros there.
    case JWRN_NOT_SEQUENTIAL: return;
    case JWRN_EXTRANEOUS_DATA:
      if (manager->msg_parm.i[0] <= padding_limit && manager->msg_parm.i[1] == end_of_image) return;
  }
  fail_with_message(info);
}

static void print_nothing(j_common_ptr info) { (void)info; }

struct jpeg_error_mgr *cjpeg_errors_start(struct cjpeg_errors *errors) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&errors->manager);
  manager->error_exit = fail_with_message;
  manager->emit_message = handle_message;
  manager->output_message = print_nothing;
  return manager;
}

_Noreturn void cjpeg_fail(struct cjpeg_errors *errors, enum cjpeg_status status, const char *message) {
  errors->failure->status = status;
  snprintf(errors->failure->message, cjpeg_message_size, "%s", message);
  longjmp(errors->back, 1);
}
