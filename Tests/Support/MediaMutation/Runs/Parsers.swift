import ISOBaseMedia
import Model
import Stills

/// Passes a mutation to every parser of this program that meets hostile bytes, without a decoder.
package struct Parsers {
  /// The limits of reading, which a parser must not exceed whatever the bytes are.
  private static let maxReads = 20_000
  private static let pixels = 1 << 24
  private static let limits = Limits(
    seconds: nil, bytes: 1 << 30, pixels: pixels, framesPerSecond: 240, streams: 16,
    containers: ContainerName.allCases,
    videoCodecs: AllowedCodecs.video, differenceSeconds: 0.5)

  private let bytes: [UInt8]
  private var violations: [String] = []

  /// The result: whether the walk or the parser of the format accepts the file, otherwise the code of the reason.
  package static func run(_ bytes: [UInt8], isPhoto: Bool) -> Outcome {
    var parsers = Parsers(bytes: bytes)
    var outcome = isPhoto ? parsers.photo() : parsers.clip()
    OutputParsers.run(bytes)
    if let violation = parsers.violations.first { outcome.ending = .violated(violation) }
    return outcome
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func clip() -> Outcome {
    _ = FileSignature(bytes.prefix(FileSignature.length))
    if WebMWalker.recognizes(bytes) { return webM() }
    var reads = 0
    let bytes = bytes
    let examined = ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      reads += 1
      return Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    switch examined {
    case .failure(let refusal): return refused(refusal, reads: reads)
    case .success(let structure):
      compareArrival(with: nil, reads: reads)
      let content = structure.movieContent
      let movie = Array(bytes[Int(content.lowerBound)..<Int(content.upperBound)])
      let metadata = MovieMetadata(movie: movie, outside: structure.identifying)
      let isProbed = !metadata.tracks.isEmpty
      return Outcome(depth: isProbed ? .probed : .walked, ending: .accepted)
    }
  }

  private mutating func webM() -> Outcome {
    var reads = 0
    let bytes = bytes
    let examined = WebMWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      reads += 1
      return Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    switch examined {
    case .failure(let refusal): return refused(refusal, reads: reads)
    case .success(let structure):
      compareArrival(with: nil, reads: reads)
      let reason = WebMJudgement(Self.limits, input: .front).reason(structure.tracks)
      return Outcome(depth: reason == nil ? .probed : .walked, ending: reason.map { .refused($0.code) } ?? .accepted)
    }
  }

  /// The outcome of a file that the walk refuses.
  private mutating func refused(_ refusal: ContainerRefusal, reads: Int) -> Outcome {
    compareArrival(with: refusal, reads: reads)
    let reason = Reason(refusal, input: .front)
    if let offset = reason.byteOffset, !(0...Int64(bytes.count) ~= offset) {
      violations.append("a refusal at byte \(offset) of \(bytes.count)")
    }
    return Outcome(depth: .submitted, ending: .refused(reason.code))
  }

  /// Judges the file as it arrives.
  ///
  /// - Parameter refusal: that of the whole file; nil: it is accepted.
  private mutating func compareArrival(with refusal: ContainerRefusal?, reads: Int) {
    let arrival = Arrival(bytes, AcceptedMedia(clip: Self.limits, as: .front))
    if let refusal, arrival.refusalAtEnd == nil { violations.append("a file is accepted as it arrives: \(refusal)") }
    if reads > Self.maxReads { violations.append("the walk read the file \(reads) times") }
  }

  private mutating func photo() -> Outcome {
    guard let format = PhotoFormat(start: bytes) else {
      let reason = Reason(unsupportedPhoto: FileSignature(bytes.prefix(FileSignature.length)), accepted: [.jpeg])
      return Outcome(depth: .submitted, ending: .refused(reason.code))
    }
    switch format {
    case .jpeg:
      let segments = JPEGSegments(bytes)
      _ = Exif(segments.exif)
      return Outcome(depth: segments.isCut ? .walked : .probed, ending: .accepted)
    case .heif, .avif: return heif()
    case .png, .webp:
      _ = Exif(bytes.suffix(200))
      return Outcome(depth: .walked, ending: .accepted)
    case .gif: return gif()
    }
  }

  private mutating func gif() -> Outcome {
    do throws(ImageError) {
      let image = try GIFImage(bytes, pixels: Self.pixels)
      do throws(ImageError) {
        if try GIFImage(image.picture.bytes, pixels: Self.pixels).picture.bytes != image.picture.bytes {
          violations.append("the image of a GIF is rewritten to other bytes")
        }
      } catch {
        violations.append("the image of a GIF is refused: \(error)")
      }
      return Outcome(depth: .probed, ending: .accepted)
    } catch {
      let code: ReasonCode =
        switch error {
        case .truncated: .truncatedContainer
        case .unsupported: .unsupportedCodec
        case .tooManyPixels, .tooLongEdge: .tooLarge
        case .malformed, .outOfMemory: .corruptImage
        }
      return Outcome(depth: .walked, ending: .refused(code))
    }
  }

  private mutating func heif() -> Outcome {
    do throws(HEIFRefusal) {
      let image = try HEIFImage(bytes, pixels: Self.pixels)
      _ = Exif(image.exif)
      do throws(HEIFRefusal) {
        if try HEIFImage(image.bytes, pixels: Self.pixels).bytes != image.bytes {
          violations.append("a rewritten HEIF is rewritten to other bytes")
        }
      } catch {
        violations.append("a rewritten HEIF is refused: \(error)")
      }
      return Outcome(depth: .probed, ending: .accepted)
    } catch {
      let code: ReasonCode =
        switch error {
        case .truncated: .truncatedContainer
        case .damaged: .corruptImage
        case .unsupported: .unsupportedCodec
        case .tooManyPixels: .tooLarge
        }
      return Outcome(depth: .walked, ending: .refused(code))
    }
  }
}
