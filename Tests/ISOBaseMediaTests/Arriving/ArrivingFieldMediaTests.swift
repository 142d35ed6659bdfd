import Glibc
import ISOBaseMedia
import Model
import Platform
import Testing

/// The directory of field media, from `TAKE5_FIELD_MEDIA`.
private let folder = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

private func files(_ name: String) -> [String] {
  guard let folder else { return [] }
  return ((try? Folder.names(in: "\(folder)/\(name)")) ?? []).sorted().map { "\(folder)/\(name)/\($0)" }
}

@Suite("Field media that arrive", .tags(.fieldMedia), .enabled(if: folder != nil, "TAKE5_FIELD_MEDIA is not set"))
struct ArrivingFieldMediaTests {
  private let builtIn: BuiltIn

  init() throws { builtIn = try BuiltIn() }

  // The files that their headers refuse, with the code and how much of the file may arrive before.
  private static let refused: [String: (code: ReasonCode, maxOffset: Int64)] = [
    "vp9-opus-5s.webm": (.unsupportedContainer, 0),
    "gif-decompression-bomb.gif": (.unsupportedContainer, 0),
    "mp4-audio-only.mp4": (.noVideoStream, 16_000),
    "mp4-missing-mdat-partial.mp4": (.truncatedContainer, 135_418),
    "mp4-vvc-unsupported-codec.mp4": (.unsupportedCodec, 1024),
    "phone-h263-amr-15s.3gp": (.unsupportedCodec, 188_325),
    "mp4-no-moov.mp4": (.truncatedContainer, 28),
  ]

  @Test("recordings, photos and hostile files", arguments: files("videos") + files("photos") + files("hostile"))
  func verdicts(path: String) throws {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let bytes = try Descriptor(reading: path).contents()
    for length in [Int64(bytes.count), nil] {
      let found = refusal(of: bytes, builtIn.any, length: length)
      let expected = Self.refused[name]
      // Without a length, its duration shows before the missing box.
      if length == nil, name == "mp4-missing-mdat-partial.mp4" {
        #expect(found?.reason.code == .durationOutOfRange)
        continue
      }
      #expect(found?.reason.code == expected?.code)
      if let found, let expected, length != nil { #expect(found.offset <= expected.maxOffset) }
    }
  }

  @Test(
    "clips that the whole walk accepts are accepted at their end, others get its reason",
    arguments: files("videos") + files("hostile"))
  func agreement(path: String) throws {
    let bytes = try Descriptor(reading: path).contents()
    let accepted = AcceptedMedia(clip: builtIn.marker, as: .front)
    let verdicts = [Int64(bytes.count), nil].map { Judgement(bytes, accepted, length: $0).verdict }
    let examined = ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    for verdict in verdicts {
      switch (examined, verdict) {
      case (.success(let whole), .success(let type)): #expect(type == whole.family.mediaType)
      case (.failure(let whole), .failure(let found)):
        #expect(found.reason.detail == Reason(whole, input: .front).detail)
        #expect(found.reason.code == Reason(whole, input: .front).code)
      default: Issue.record("the walk has \(examined), the judge \(verdict)")
      }
    }
  }
}
