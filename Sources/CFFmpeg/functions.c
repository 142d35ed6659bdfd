#include "CFFmpeg.h"
#include "CLazyLibrary.h"

// The functions of FFmpeg that are called, by library (docs/decisions/0010-lazy-libraries.md). A call to a function
// that is missing here fails to link.

#define LIBRARY(name, major) LAZY_LIBRARY(name, "lib" #name ".so." AV_STRINGIFY(major))

LIBRARY(avutil, LIBAVUTIL_VERSION_MAJOR);
LAZY_FUNCTION(avutil, av_channel_layout_compare);
LAZY_FUNCTION(avutil, av_channel_layout_copy);
LAZY_FUNCTION(avutil, av_channel_layout_default);
LAZY_FUNCTION(avutil, av_channel_layout_uninit);
LAZY_FUNCTION(avutil, av_color_primaries_from_name);
LAZY_FUNCTION(avutil, av_color_primaries_name);
LAZY_FUNCTION(avutil, av_color_range_from_name);
LAZY_FUNCTION(avutil, av_color_range_name);
LAZY_FUNCTION(avutil, av_color_space_from_name);
LAZY_FUNCTION(avutil, av_color_space_name);
LAZY_FUNCTION(avutil, av_color_transfer_from_name);
LAZY_FUNCTION(avutil, av_color_transfer_name);
LAZY_FUNCTION(avutil, av_dict_free);
LAZY_FUNCTION(avutil, av_dict_get);
LAZY_FUNCTION(avutil, av_dict_set);
LAZY_FUNCTION(avutil, av_force_cpu_flags);
LAZY_FUNCTION(avutil, av_frame_alloc);
LAZY_FUNCTION(avutil, av_frame_copy_props);
LAZY_FUNCTION(avutil, av_frame_free);
LAZY_FUNCTION(avutil, av_frame_get_buffer);
LAZY_FUNCTION(avutil, av_frame_make_writable);
LAZY_FUNCTION(avutil, av_frame_move_ref);
LAZY_FUNCTION(avutil, av_frame_ref);
LAZY_FUNCTION(avutil, av_frame_remove_side_data);
LAZY_FUNCTION(avutil, av_frame_unref);
LAZY_FUNCTION(avutil, av_free);
LAZY_FUNCTION(avutil, av_freep);
LAZY_FUNCTION(avutil, av_get_pix_fmt);
LAZY_FUNCTION(avutil, av_get_pix_fmt_name);
LAZY_FUNCTION(avutil, av_log_set_level);
LAZY_FUNCTION(avutil, av_malloc);
LAZY_FUNCTION(avutil, av_mallocz);
LAZY_FUNCTION(avutil, av_max_alloc);
LAZY_FUNCTION(avutil, av_pix_fmt_desc_get);
LAZY_FUNCTION(avutil, av_rescale_q);
LAZY_FUNCTION(avutil, av_strerror);
LAZY_FUNCTION(avutil, avutil_version);

LIBRARY(avcodec, LIBAVCODEC_VERSION_MAJOR);
LAZY_FUNCTION(avcodec, av_new_packet);
LAZY_FUNCTION(avcodec, av_packet_alloc);
LAZY_FUNCTION(avcodec, av_packet_free);
LAZY_FUNCTION(avcodec, av_packet_ref);
LAZY_FUNCTION(avcodec, av_packet_rescale_ts);
LAZY_FUNCTION(avcodec, av_packet_unref);
LAZY_FUNCTION(avcodec, avcodec_alloc_context3);
LAZY_FUNCTION(avcodec, avcodec_find_decoder);
LAZY_FUNCTION(avcodec, avcodec_find_decoder_by_name);
LAZY_FUNCTION(avcodec, avcodec_find_encoder_by_name);
LAZY_FUNCTION(avcodec, avcodec_free_context);
LAZY_FUNCTION(avcodec, avcodec_get_name);
LAZY_FUNCTION(avcodec, avcodec_open2);
LAZY_FUNCTION(avcodec, avcodec_parameters_copy);
LAZY_FUNCTION(avcodec, avcodec_parameters_from_context);
LAZY_FUNCTION(avcodec, avcodec_parameters_to_context);
LAZY_FUNCTION(avcodec, avcodec_profile_name);
LAZY_FUNCTION(avcodec, avcodec_receive_frame);
LAZY_FUNCTION(avcodec, avcodec_receive_packet);
LAZY_FUNCTION(avcodec, avcodec_send_frame);
LAZY_FUNCTION(avcodec, avcodec_send_packet);
LAZY_FUNCTION(avcodec, avcodec_version);

LIBRARY(avformat, LIBAVFORMAT_VERSION_MAJOR);
LAZY_FUNCTION(avformat, av_find_input_format);
LAZY_FUNCTION(avformat, av_interleaved_write_frame);
LAZY_FUNCTION(avformat, av_read_frame);
LAZY_FUNCTION(avformat, av_stream_get_side_data);
LAZY_FUNCTION(avformat, av_stream_new_side_data);
LAZY_FUNCTION(avformat, av_write_trailer);
LAZY_FUNCTION(avformat, avformat_alloc_context);
LAZY_FUNCTION(avformat, avformat_alloc_output_context2);
LAZY_FUNCTION(avformat, avformat_close_input);
LAZY_FUNCTION(avformat, avformat_free_context);
LAZY_FUNCTION(avformat, avformat_index_get_entries_count);
LAZY_FUNCTION(avformat, avformat_new_stream);
LAZY_FUNCTION(avformat, avformat_open_input);
LAZY_FUNCTION(avformat, avformat_version);
LAZY_FUNCTION(avformat, avformat_write_header);
LAZY_FUNCTION(avformat, avio_alloc_context);
LAZY_FUNCTION(avformat, avio_context_free);
LAZY_FUNCTION(avformat, avio_flush);

LIBRARY(swscale, LIBSWSCALE_VERSION_MAJOR);
LAZY_FUNCTION(swscale, sws_freeContext);
LAZY_FUNCTION(swscale, sws_getCoefficients);
LAZY_FUNCTION(swscale, sws_getContext);
LAZY_FUNCTION(swscale, sws_scale);
LAZY_FUNCTION(swscale, sws_setColorspaceDetails);
LAZY_FUNCTION(swscale, swscale_version);

LIBRARY(swresample, LIBSWRESAMPLE_VERSION_MAJOR);
LAZY_FUNCTION(swresample, swr_alloc_set_opts2);
LAZY_FUNCTION(swresample, swr_convert);
LAZY_FUNCTION(swresample, swr_free);
LAZY_FUNCTION(swresample, swr_init);
LAZY_FUNCTION(swresample, swresample_version);
