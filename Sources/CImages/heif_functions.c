#include "CLazyLibrary.h"

// The functions of libheif that are called. A call to a function that is missing here fails to link.

LAZY_LIBRARY(heif, "libheif.so.1");
LAZY_FUNCTION(heif, heif_context_alloc);
LAZY_FUNCTION(heif, heif_context_encode_image);
LAZY_FUNCTION(heif, heif_context_free);
LAZY_FUNCTION(heif, heif_context_get_encoder_for_format);
LAZY_FUNCTION(heif, heif_context_get_primary_image_handle);
LAZY_FUNCTION(heif, heif_context_read_from_memory_without_copy);
LAZY_FUNCTION(heif, heif_context_set_max_decoding_threads);
LAZY_FUNCTION(heif, heif_context_write);
LAZY_FUNCTION(heif, heif_decode_image);
LAZY_FUNCTION(heif, heif_decoding_options_alloc);
LAZY_FUNCTION(heif, heif_decoding_options_free);
LAZY_FUNCTION(heif, heif_encoder_release);
LAZY_FUNCTION(heif, heif_encoder_set_lossy_quality);
LAZY_FUNCTION(heif, heif_encoder_set_parameter_integer);
LAZY_FUNCTION(heif, heif_image_add_plane);
LAZY_FUNCTION(heif, heif_image_create);
LAZY_FUNCTION(heif, heif_image_get_bits_per_pixel_range);
LAZY_FUNCTION(heif, heif_image_get_decoding_warnings);
LAZY_FUNCTION(heif, heif_image_get_plane);
LAZY_FUNCTION(heif, heif_image_get_plane_readonly);
LAZY_FUNCTION(heif, heif_image_get_primary_height);
LAZY_FUNCTION(heif, heif_image_get_primary_width);
LAZY_FUNCTION(heif, heif_image_handle_get_height);
LAZY_FUNCTION(heif, heif_image_handle_get_luma_bits_per_pixel);
LAZY_FUNCTION(heif, heif_image_handle_get_nclx_color_profile);
LAZY_FUNCTION(heif, heif_image_handle_get_raw_color_profile);
LAZY_FUNCTION(heif, heif_image_handle_get_raw_color_profile_size);
LAZY_FUNCTION(heif, heif_image_handle_get_width);
LAZY_FUNCTION(heif, heif_image_handle_has_alpha_channel);
LAZY_FUNCTION(heif, heif_image_handle_release);
LAZY_FUNCTION(heif, heif_image_release);
LAZY_FUNCTION(heif, heif_nclx_color_profile_free);
