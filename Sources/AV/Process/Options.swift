internal import CFFmpeg

/// Options by name for a libav call (libavutil/dict.h).
struct Options: ~Copyable {
  /// The dictionary; a call that consumes entries leaves those that it did not know.
  var pointer: OpaquePointer?

  init(_ entries: [(String, String)]) {
    for (key, value) in entries { av_dict_set(&pointer, key, value, 0) }
  }

  deinit {
    var pointer = pointer
    av_dict_free(&pointer)
  }

  /// An option that was not consumed; a misspelt one must not be ignored in silence.
  var leftOver: String? {
    guard let entry = av_dict_get(pointer, "", nil, AV_DICT_IGNORE_SUFFIX) else { return nil }
    return entry.pointee.key.map { String(cString: $0) }
  }
}
