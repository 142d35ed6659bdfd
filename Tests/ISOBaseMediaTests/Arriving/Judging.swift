import Definitions
import ISOBaseMedia
import Model
import SeededRandom

/// How the bytes of a file are divided as they arrive.
enum Division: CaseIterable {
  /// The first 128 KiB in single bytes, and the rest in pages, so that long files take no time.
  case bytes
  case whole, chance
}

/// What is said about a file.
struct Judgement: Hashable {
  /// While it arrives; nil if it may be accepted.
  let refusal: StreamRefusal?
  /// At its end: the media type, or the refusal.
  let verdict: Result<String, StreamRefusal>

  /// Judges a file that arrives in pieces.
  init(_ file: [UInt8], _ accepted: AcceptedMedia, in division: Division, length: Int64?, seed: UInt64 = 1) {
    var validator = StreamValidator(accepting: accepted, length: length)
    var random = SplitMix64(seed: seed)
    var rest = file[...]
    var first: StreamRefusal?
    while !rest.isEmpty {
      let count =
        switch division {
        case .whole: rest.count
        case .bytes: rest.startIndex < 1 << 17 ? 1 : 4096
        case .chance: Int.random(in: 1...(1 << Int.random(in: 0...16, using: &random)), using: &random)
        }
      let refusal = rest.prefix(count).withUnsafeBytes { validator.append($0) }
      first = first ?? refusal
      rest = rest.dropFirst(count)
    }
    refusal = first
    verdict = Result { [validator] () throws(StreamRefusal) in try validator.finish() }
  }

  /// Judges a file; the judgement must not depend on how the bytes are divided.
  init(_ file: [UInt8], _ accepted: AcceptedMedia, length: Int64?) {
    let found = Division.allCases.map { Judgement(file, accepted, in: $0, length: length) }
    precondition(Set(found).count == 1, "the judgement depends on the division: \(found)")
    self = found[0]
  }
}

/// The refusal of a file while it arrives or at its end; nil if it is accepted.
func refusal(of file: [UInt8], _ accepted: AcceptedMedia, length: Int64?) -> StreamRefusal? {
  let judgement = Judgement(file, accepted, length: length)
  guard judgement.refusal == nil, case .failure(let refusal) = judgement.verdict else { return judgement.refusal }
  return refusal
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
