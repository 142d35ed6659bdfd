internal import CFFmpeg
import Platform

/// The process-wide settings of the FFmpeg libraries.
package enum Library {
  private static let isLoaded: Void = SharedLibraries.open(
    "libavutil.so.\(LIBAVUTIL_VERSION_MAJOR)", "libswresample.so.\(LIBSWRESAMPLE_VERSION_MAJOR)",
    "libavcodec.so.\(LIBAVCODEC_VERSION_MAJOR)", "libavformat.so.\(LIBAVFORMAT_VERSION_MAJOR)",
    "libswscale.so.\(LIBSWSCALE_VERSION_MAJOR)")

  /// Loads the libraries. Call this before any other use in a program that is not linked with them.
  package static func load() { isLoaded }

  /// Disables FFmpeg's log and limits the size of an allocation. Call this before any other use.
  ///
  /// - Parameters:
  ///   - maxAllocation: the maximum size of one allocation in bytes; it limits what a hostile header can request.
  ///   - isPortable: whether FFmpeg must not use vector instructions.
  package static func configure(maxAllocation: Int, isPortable: Bool = false) {
    load()
    if isPortable { av_force_cpu_flags(0) }
    av_log_set_level(AV_LOG_QUIET)
    av_max_alloc(maxAllocation)
  }

  /// The run-time versions of the libraries that determine the bytes of an output.
  package static var versions: [String: String] {
    load()
    return [
      "libavformat": version(avformat_version()), "libavcodec": version(avcodec_version()),
      "libswscale": version(swscale_version()), "libswresample": version(swresample_version()),
      "libavutil": version(avutil_version()),
    ]
  }

  /// The decoders and encoders that the libraries lack, by FFmpeg's names.
  ///
  /// - Parameters:
  ///   - codecs: the names of codecs. The program uses one decoder for each.
  ///   - encoders: the names of encoders.
  package static func missing(decodersOf codecs: [String], encoders: [String]) -> [String] {
    load()
    return codecs.map(Decoder.name(ofCodec:)).filter { avcodec_find_decoder_by_name($0) == nil }
      + encoders.filter { avcodec_find_encoder_by_name($0) == nil }
  }

  private static func version(_ number: UInt32) -> String {
    "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
  }
}

/// A dictionary of options for an FFmpeg call (libavutil/dict.h).
struct Options: ~Copyable {
  /// The dictionary. A call removes the entries that it consumes and leaves those that it does not know.
  var pointer: OpaquePointer?

  init(_ entries: [(String, String)]) {
    for (key, value) in entries { av_dict_set(&pointer, key, value, 0) }
  }

  deinit {
    var pointer = pointer
    av_dict_free(&pointer)
  }

  /// An option that the call did not consume; nil if there is none. A misspelt option must not be ignored silently.
  var unconsumed: String? {
    guard let entry = av_dict_get(pointer, "", nil, AV_DICT_IGNORE_SUFFIX) else { return nil }
    return entry.pointee.key.map { String(cString: $0) }
  }
}
