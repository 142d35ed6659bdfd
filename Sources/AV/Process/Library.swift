internal import CFFmpeg

/// What concerns libav in this process as a whole.
package enum Library {
  /// Silences libav's own log and bounds one allocation; call before any other use.
  ///
  /// - Parameters:
  ///   - largestAllocation: in bytes; a hostile header cannot ask for more in one piece.
  ///   - isPortable: whether the processor's vector units are left unused, as on one that has none.
  package static func configure(largestAllocation: Int, isPortable: Bool = false) {
    if isPortable { av_force_cpu_flags(0) }
    av_log_set_level(AV_LOG_QUIET)
    av_max_alloc(largestAllocation)
  }

  /// The versions of the libraries that decide about the bytes of an output, as they are at run time.
  package static var versions: [String: String] {
    [
      "libavformat": version(avformat_version()), "libavcodec": version(avcodec_version()),
      "libswscale": version(swscale_version()), "libswresample": version(swresample_version()),
      "libavutil": version(avutil_version()),
    ]
  }

  private static func version(_ number: UInt32) -> String {
    "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
  }
}
