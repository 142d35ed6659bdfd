/// The range of a number in a definition.
struct NumberRange: CustomStringConvertible {
  private let range: ClosedRange<Double>

  init(_ lowest: Double, _ highest: Double) { range = lowest...highest }

  var description: String { "\(Self.text(range.lowerBound)) and \(Self.text(range.upperBound))" }

  /// The fault of a number; nil if it is in the range.
  func reason(_ number: Double) -> String? {
    range.contains(number) ? nil : "\(Self.text(number)) is not between \(self)"
  }

  /// Throws an error with the path of a number that is outside of the range.
  func check(_ number: Double?, _ path: String) throws {
    guard let number, let reason = reason(number) else { return }
    throw DecodingError.dataCorrupted(.init(codingPath: [PathKey(stringValue: path)], debugDescription: reason))
  }

  func check(_ number: Int?, _ path: String) throws { try check(number.map(Double.init), path) }

  /// A number as JSON has it: an integer without a fraction.
  static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}

/// Ranges of decoded numbers, also of stored definitions: far beyond useful ones, and small enough that no arithmetic with such
/// numbers overflows.
extension NumberRange {
  /// Of an edge in pixels.
  static let edge = NumberRange(1, 16_384)
  /// Of a distance in pixels.
  static let length = NumberRange(0, 16_384)
  /// Of frames per second.
  static let rate = NumberRange(1, 1000)
  /// Of a JPEG or WebP quality.
  static let quality = NumberRange(1, 100)
  /// Of a time in seconds.
  static let day = NumberRange(0, 86_400)
  /// Of a position in a clip, in seconds.
  static let position = NumberRange(-86_400, 86_400)
  /// Of the attempts of a job, the streams of a file and the photos of a post.
  static let number = NumberRange(1, 1000)
  /// Of a loudness in LUFS; what is quieter than the lowest does not count (EBU R 128).
  static let loudness = NumberRange(-70, 0)
  /// Of the number of a profile of H.264, which has eight bits.
  static let profile = NumberRange(0, 255)
  /// Of a level of H.264.
  static let level = NumberRange(1, 6.2)
  /// Of the length of a file, and of bits in a second.
  static let bytes = NumberRange(1, 1e15)
  /// Of the pixels of an image or a frame.
  static let pixels = NumberRange(1, 1e12)
}
