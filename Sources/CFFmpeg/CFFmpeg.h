#pragma once

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/cpu.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Swift does not import these macros, which are casts or take arguments.

static inline int cffmpeg_error(int number) { return AVERROR(number); }
static inline int cffmpeg_error_end(void) { return AVERROR_EOF; }
static inline int cffmpeg_error_exit(void) { return AVERROR_EXIT; }
static inline int64_t cffmpeg_no_timestamp(void) { return AV_NOPTS_VALUE; }
