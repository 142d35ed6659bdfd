/// The codecs that any definition may allow, by libav's names: decoders outside of these are never opened, since each of
/// them is a door for hostile files.
package enum AllowedCodecs {
  /// What phones write, and wrote.
  package static let video = ["h264", "hevc", "mpeg4", "h263", "vp9"]

  package static let audio = [
    "aac", "alac", "mp3", "amr_nb", "amr_wb", "ac3", "eac3", "opus", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be",
    "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_mulaw", "pcm_alaw",
  ]
}
