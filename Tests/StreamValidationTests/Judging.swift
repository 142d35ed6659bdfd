import Definitions
import Model
import SeededRandom
import StreamValidation

/// How the bytes of a file are divided as they arrive.
enum Division: CaseIterable {
  /// The first 128 KiB in single bytes, and the rest in pages, so that long files take no time.
  case bytes
  case whole, chance
}

extension StreamValidator {
  /// The refusal of a file that arrives in pieces; nil if it may be accepted.
  static func refusal(
    of file: [UInt8], _ accepted: AcceptedMedia, in division: Division, length: Int64?, seed: UInt64 = 1
  ) -> StreamRefusal? {
    var validator = StreamValidator(accepting: accepted, length: length)
    var random = SplitMix64(seed: seed)
    var rest = file[...]
    while !rest.isEmpty {
      let count =
        switch division {
        case .whole: rest.count
        case .bytes: rest.startIndex < 1 << 17 ? 1 : 4096
        case .chance: Int.random(in: 1...(1 << Int.random(in: 0...16, using: &random)), using: &random)
        }
      if let refusal = rest.prefix(count).withUnsafeBytes({ validator.append($0) }) { return refusal }
      rest = rest.dropFirst(count)
    }
    return validator.finish()
  }
}

/// The refusal of a file of a known length; it must not depend on how the bytes are divided.
func refusal(of file: [UInt8], _ accepted: AcceptedMedia, length: Int64?) -> StreamRefusal? {
  let found = Division.allCases.map { StreamValidator.refusal(of: file, accepted, in: $0, length: length) }
  precondition(Set(found).count == 1, "the refusal depends on the division: \(found)")
  return found[0]
}

/// The refusal of a file whose length is declared.
func refusal(of file: [UInt8], _ accepted: AcceptedMedia) -> StreamRefusal? {
  refusal(of: file, accepted, length: Int64(file.count))
}

/// The media that the built-in definitions accept.
struct BuiltIn {
  let moment: Limits
  let marker: Limits
  let photo: PhotoLimits
  let any: AcceptedMedia

  init() throws {
    moment = try Definitions.take5Post().limits
    marker = try Definitions.markerVideo().limits
    let photos = try Definitions.photos().values.map(\.limits)
    guard let first = photos.first else { preconditionFailure("there are no photo definitions") }
    photo = first
    any = AcceptedMedia(anyOf: [moment, marker], photos)
  }
}
