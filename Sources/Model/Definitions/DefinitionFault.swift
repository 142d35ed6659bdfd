/// A value of a definition with which no media can be made, or all would be refused.
///
/// It is judged where a definition is read from a file. A stored one has been in use: its jobs keep it as it is.
package struct DefinitionFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where it is in the JSON, such as `outputs.composed.seconds[0]`.
  package let path: String
  /// What is wrong with it, and what to write.
  package let reason: String

  package var description: String { "\(path): \(reason)" }
}

extension MediaDefinition {
  /// All that is wrong with it, in the order of its keys.
  package var faults: [DefinitionFault] {
    switch self {
    case .clips(let definition): definition.faults
    case .photos(let definition): definition.faults
    }
  }
}

/// The faults that are found one after the other.
struct DefinitionFaults {
  private(set) var all: [DefinitionFault] = []

  /// Adds a fault if a condition does not hold.
  mutating func require(_ isRight: Bool, _ path: String, _ reason: @autoclosure () -> String) {
    if !isRight { all.append(DefinitionFault(path: path, reason: reason())) }
  }

  /// Adds a fault if a number is outside of its range.
  mutating func require(_ number: Double?, in range: NumberRange, _ path: String) {
    guard let number, let reason = range.reason(number) else { return }
    all.append(DefinitionFault(path: path, reason: reason))
  }

  mutating func require(_ number: Int?, in range: NumberRange, _ path: String) {
    require(number.map(Double.init), in: range, path)
  }
}

/// Ranges in which media can be made, and in which the files of some phone meet the limits.
extension NumberRange {
  /// Of a version, which the database stores as an integer.
  static let version = NumberRange(0, 2_147_483_647)
  /// Of the time of an attempt, in seconds: in less a busy machine makes nothing, and the media would have the blame.
  static let deadline = NumberRange(10, 86_400)
  /// Of the longest duration of a clip, in seconds.
  static let duration = NumberRange(0.1, 86_400)
  /// Of the length of a file of a clip, and of a photo.
  static let clipBytes = NumberRange(65_536, 1e15)
  static let photoBytes = NumberRange(4096, 1e15)
  /// Of the limit of the pixels of a frame or a photo: 320x240 is the smallest size of a camera.
  static let cameraPixels = NumberRange(76_800, 1e12)
  /// Of the limit of a clip's frame rate.
  static let cameraRate = NumberRange(24, 1000)
  /// Of the difference between the durations of two clips: a frame at least.
  static let difference = NumberRange(0.04, 86_400)
  /// Of the streams of a file: those with one have no sound.
  static let streams = NumberRange(1, 1000)
  /// Of an edge of a canvas, and of an output.
  static let canvasEdge = NumberRange(64, 4096)
  static let outputEdge = NumberRange(16, 16_384)
  /// Of an edge of the preview of an animated photo, which has up to a hundred images.
  static let animationEdge = NumberRange(16, 1024)
  /// Of the frame rate of an output, and of a preview.
  static let outputRate = NumberRange(1, 240)
  static let previewRate = NumberRange(1, 60)
  /// Of the duration of a preview, in seconds.
  static let previewSeconds = NumberRange(0.1, 30)
  /// Of the time of a frame, from the start.
  static let time = NumberRange(0, 86_400)
  /// Of the maximum size of a variant of a photo.
  static let variantBytes = NumberRange(1024, 1e9)
  /// Of the difference of recording times, in seconds.
  static let recorded = NumberRange(0.5, 86_400)
}
