import AV
import ISOBaseMedia
import Model
import Platform
import StreamValidation

@testable import Media

extension FuzzTarget {
  static let arrivals = [arrivingClip, arrivingPhoto]

  /// The refusal of a file as it arrives: at once, in pieces, and in pieces of which those that are not read are left out.
  private static func refusal(
    of file: [UInt8], _ accepted: AcceptedMedia, length: Int64?
  ) -> StreamRefusal? {
    let whole = refusal(of: [file[...]], accepted, length: length)
    expect(whole.map { 0...Int64(file.count) ~= $0.offset } ?? true, "an offset outside of the file")
    let pieces = pieces(of: file)
    expect(refusal(of: pieces, accepted, length: length) == whole, "another refusal in pieces")
    expect(
      refusal(of: pieces, accepted, length: length, skips: true) == whole, "another refusal without what is not read")
    return whole
  }

  private static func refusal(
    of pieces: [ArraySlice<UInt8>], _ accepted: AcceptedMedia, length: Int64?, skips: Bool = false
  ) -> StreamRefusal? {
    var validator = StreamValidator(accepting: accepted, length: length)
    var offset: Int64 = 0
    for piece in pieces {
      let end = offset + Int64(piece.count)
      if skips, validator.refusal == nil, validator.nextOffset >= end {
        validator.skip(to: end)
      } else {
        let found = piece.withUnsafeBytes { validator.append($0) }
        expect(found == validator.refusal, "a refusal that does not stay")
      }
      offset = end
    }
    return validator.finish()
  }

  /// The bytes in pieces of 1 to 128, whose lengths depend on the bytes.
  private static func pieces(of file: [UInt8]) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = file[...]
    while let first = rest.first {
      let piece = rest.prefix(1 << Int((first ^ UInt8(truncatingIfNeeded: rest.count)) % 8))
      pieces.append(piece)
      rest = rest.dropFirst(piece.count)
    }
    return pieces
  }

  private static let clipLimits = Limits(
    seconds: SecondsRange(shortest: 0.5, longest: 5.5), bytes: 1 << 20, pixels: 1 << 20, framesPerSecond: 240,
    streams: 4,
    containers: [.mp4, .mov], videoCodecs: ["h264", "hevc"], differenceSeconds: 0.5)

  /// A flag, whether the length is known, and a clip: it is refused only if the walk over the whole file, or the probe, refuses
  /// it too, and always if the walk does.
  private static let arrivingClip = FuzzTarget("arriving-clip") { input in
    guard let flag = input.first else { return }
    let file = Array(input.dropFirst())
    let isKnown = flag & 1 == 1
    let found = refusal(
      of: file, AcceptedMedia(clip: clipLimits, as: .clip), length: isKnown ? Int64(file.count) : nil)
    let structure = ContainerWalker.examine(size: Int64(file.count)) { offset, count throws(Never) in
      Array(file.dropFirst(Int(offset)).prefix(count))
    }
    switch structure {
    case .failure(let refusal):
      // The length of the file is part of what it may state.
      expect(found != nil || !isKnown, "a file that is accepted as it arrives: \(refusal)")
    case .success(let structure):
      guard let found, clipLimits.containers.contains(structure.family) else { return }
      // No recorder writes tracks outside of `moov`, in which a demuxer looks for them too.
      guard structure.outermost.allSatisfy(usual.contains) else { return }
      let isRefused = try isRefused(file)
      expect(isRefused, "a file that is accepted as a whole: \(found.reason.detail)")
    }
  }

  private static let usual: Set<BoxType> = ["ftyp", "moov", "mdat", "free", "skip", "wide", "uuid"]

  /// Whether the probe refuses a clip, or a run by its duration.
  private static func isRefused(_ clip: [UInt8]) throws -> Bool {
    let file = try file(clip)
    guard case .success(let facts) = try Prober(limits: clipLimits).probe(file, as: .clip) else { return true }
    let source = InputSource(
      name: .clip, file: file, limits: clipLimits, interrupt: Interrupt(flag: CancellationFlag()))
    guard let seconds = clipLimits.seconds else { return false }
    let scan = try PacketScan(of: source, video: facts.video, allowedDuration: seconds)
    let rule = DurationRule(limits: clipLimits)
    return rule.durationReason(.clip, seconds: scan.seconds, hasMorePackets: scan.hasMorePackets) != nil
  }

  private static let photoLimits = PhotoLimits(
    bytes: 1 << 20, pixels: 1 << 14, progressivePixels: 1 << 13, formats: PhotoFormat.allCases)

  /// A flag, whether the length is known, and a photo: it is refused only if its decoder, or the check of its boxes, refuses it
  /// too.
  private static let arrivingPhoto = FuzzTarget("arriving-photo") { input in
    guard let flag = input.first else { return }
    let file = Array(input.dropFirst())
    let found = refusal(
      of: file, AcceptedMedia(photo: photoLimits), length: flag & 1 == 1 ? Int64(file.count) : nil)
    guard let found else { return }
    let isDecoded: Bool
    do {
      let source = try PhotoSource(Self.file(file), limits: photoLimits)
      if source.format == .heif || source.format == .avif {
        // libheif is fuzzed by its own project.
        _ = try HEIFImage(file, pixels: photoLimits.pixels)
      } else {
        _ = try PhotoDecoder(source: source, variants: [PhotoVariant(longEdge: 64, quality: 80)]).decode()
      }
      isDecoded = true
    } catch {
      isDecoded = false
    }
    expect(!isDecoded, "a photo that is accepted as a whole: \(found.reason.detail)")
  }
}
