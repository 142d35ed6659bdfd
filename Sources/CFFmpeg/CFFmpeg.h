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

// What differs between the versions of the libraries that are supported, from FFmpeg 5.1 of Debian 12 to FFmpeg 7.1 of Debian 13.

static inline int64_t cffmpeg_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  return frame->duration;
#else
  return frame->pkt_duration;
#endif
}

static inline int cffmpeg_is_interlaced(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_INTERLACED
  return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame->interlaced_frame;
#endif
}

static inline int cffmpeg_is_top_field_first(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_TOP_FIELD_FIRST
  return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame->top_field_first;
#endif
}

static inline void cffmpeg_clear_key_frame(AVFrame *frame) {
#ifdef AV_FRAME_FLAG_KEY
  frame->flags &= ~AV_FRAME_FLAG_KEY;
#else
  frame->key_frame = 0;
#endif
}

// The formats of samples that an encoder accepts, up to AV_SAMPLE_FMT_NONE; NULL if it does not say.
static inline const enum AVSampleFormat *cffmpeg_sample_formats(const AVCodec *codec) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
  const void *formats = NULL;
  const int status = avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_SAMPLE_FORMAT, 0, &formats, NULL);
  return status < 0 ? NULL : (const enum AVSampleFormat *)formats;
#else
  return codec->sample_fmts;
#endif
}

// avio_alloc_context whose write callback takes constant bytes, as it does since libavformat 61.
static inline AVIOContext *cffmpeg_alloc_io(
    unsigned char *buffer, int size, int writes, void *opaque, int (*read)(void *, uint8_t *, int),
    int (*write)(void *, const uint8_t *, int), int64_t (*seek)(void *, int64_t, int)) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  return avio_alloc_context(buffer, size, writes, opaque, read, write, seek);
#else
  return avio_alloc_context(buffer, size, writes, opaque, read, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

// Since libavcodec 60.30.101 the codec parameters of a stream have its side data; before, the stream has them.
#define CFFMPEG_HAS_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101))

static inline const uint8_t *cffmpeg_side_data(const AVStream *stream, enum AVPacketSideDataType type, size_t *size) {
#if CFFMPEG_HAS_CODED_SIDE_DATA
  const AVPacketSideData *data =
      av_packet_side_data_get(stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
  if (data) *size = data->size;
  return data ? data->data : NULL;
#else
  return av_stream_get_side_data(stream, type, size);
#endif
}

static inline uint8_t *cffmpeg_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
#if CFFMPEG_HAS_CODED_SIDE_DATA
  AVPacketSideData *data = av_packet_side_data_new(
      &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type, size, 0);
  return data ? data->data : NULL;
#else
  return av_stream_new_side_data(stream, type, size);
#endif
}
