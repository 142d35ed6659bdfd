#include "errors.h"

#include <string.h>

#include <jerror.h>

#include "file_source.h"

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
  if (errors->manager.msg_code == JERR_IMAGE_TOO_BIG) {
    errors->failure->width = ((j_decompress_ptr)info)->image_width;
    errors->failure->height = ((j_decompress_ptr)info)->image_height;
    errors->failure->max_edge = (uint32_t)errors->manager.msg_parm.i[0];
  }
  cjpeg_fail(errors, classify(errors->manager.msg_code), message);
}

int cjpeg_is_refined(const struct jpeg_decompress_struct *info) {
  for (int component = 0; info->coef_bits && component < info->num_components; component++)
    for (int index = 0; index < DCTSIZE2; index++)
      if (info->coef_bits[component][index] != 0) return 0;
  return info->coef_bits != NULL;
}

// Whether every block is decoded, so that no pixel depends on what follows. Of an image with several sequential scans that is not known.
static int is_complete(j_common_ptr common) {
  const struct jpeg_decompress_struct *info = (struct jpeg_decompress_struct *)common;
  if (info->progressive_mode)
    return info->input_iMCU_row >= info->total_iMCU_rows && cjpeg_is_refined(info);
  return info->comps_in_scan == info->num_components && info->output_height > 0 &&
         info->output_scanline >= info->output_height;
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
      // Some cameras write bytes between the segments of the header.
      if (((j_decompress_ptr)info)->input_scan_number == 0) return;
      if (!is_complete(info)) break;
      // A trailer, or filler behind restart markers.
      if (manager->msg_parm.i[1] != end_of_image || cjpeg_file_source_has_ended(((j_decompress_ptr)info)->src)) return;
      if (manager->msg_parm.i[0] <= padding_limit) return;
  }
  fail_with_message(info);
}

// Behind the last block, there may be a trailer that is no JPEG.
static _Noreturn void handle_error(j_common_ptr info) {
  struct cjpeg_errors *errors = (struct cjpeg_errors *)info->err;
  const int is_memory = errors->manager.msg_code == JERR_OUT_OF_MEMORY;
  if (!is_memory && is_complete(info) && !((j_decompress_ptr)info)->progressive_mode) longjmp(errors->back, 1);
  fail_with_message(info);
}

static void print_nothing(j_common_ptr info) { (void)info; }

struct jpeg_error_mgr *cjpeg_errors_start(struct cjpeg_errors *errors) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&errors->manager);
  manager->error_exit = handle_error;
  manager->emit_message = handle_message;
  manager->output_message = print_nothing;
  return manager;
}

_Noreturn void cjpeg_fail(struct cjpeg_errors *errors, enum cjpeg_status status, const char *message) {
  errors->failure->status = status;
  snprintf(errors->failure->message, cjpeg_message_size, "%s", message);
  longjmp(errors->back, 1);
}
