internal import CFFmpeg

/// What a stream carries.
package enum MediaKind: Hashable, Sendable {
  case video, audio, other

  init(_ type: AVMediaType) {
    switch type {
    case AVMEDIA_TYPE_VIDEO: self = .video
    case AVMEDIA_TYPE_AUDIO: self = .audio
    default: self = .other
    }
  }
}
