import AV
import ISOBaseMedia
import Model
import Platform

@testable import Media

extension FuzzTarget {
  static let arrivals = [arrivingClip, arrivingWebM]

  /// The refusals of a file: as it arrives, and at its end.
  private struct Judgement: Equatable {
    var refusal: StreamRefusal?
    var end: StreamRefusal?
  }

  /// The judgement of a file that arrives: at once, in pieces, and in pieces of which those that are not read are left out.
  private static func judgement(
    of file: [UInt8], _ accepted: AcceptedMedia, length: Int64?
  ) -> Judgement {
    let whole = judgement(of: [file[...]], accepted, length: length)
    for refusal in [whole.refusal, whole.end] {
      expect(refusal.map { 0...Int64(file.count) ~= $0.offset } ?? true, "an offset outside of the file")
    }
    let pieces = pieces(of: file)
    expect(judgement(of: pieces, accepted, length: length) == whole, "another refusal in pieces")
    expect(
      judgement(of: pieces, accepted, length: length, skips: true) == whole, "another refusal without what is not read")
    return whole
  }

  private static func judgement(
    of pieces: [ArraySlice<UInt8>], _ accepted: AcceptedMedia, length: Int64?, skips: Bool = false
  ) -> Judgement {
    var judgement = Judgement()
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
    judgement.refusal = validator.refusal
    do throws(StreamRefusal) { _ = try validator.finish() } catch { judgement.end = error }
    return judgement
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
  /// it too, and always at its end if the walk does.
  private static let arrivingClip = FuzzTarget("arriving-clip") { input in
    guard let flag = input.first else { return }
    let file = Array(input.dropFirst())
    let isKnown = flag & 1 == 1
    let found = judgement(
      of: file, AcceptedMedia(clip: clipLimits, as: .clip), length: isKnown ? Int64(file.count) : nil)
    let structure = ContainerWalker.examine(size: Int64(file.count)) { offset, count throws(Never) in
      Array(file.dropFirst(Int(offset)).prefix(count))
    }
    switch structure {
    case .failure(let refusal):
      // Of the tables that a length makes impossible, only the first is judged at the end.
      expect(found.end != nil || !isKnown, "a file that is accepted as it arrives: \(refusal)")
    case .success(let structure):
      guard let refusal = found.refusal ?? found.end, clipLimits.containers.contains(structure.family) else { return }
      // No recorder writes tracks outside of `moov`, in which a demuxer looks for them too.
      guard structure.outermost.allSatisfy(usual.contains) else { return }
      let isRefused = try isRefused(file)
      expect(isRefused, "a file that is accepted as a whole: \(refusal.reason.detail)")
    }
  }

  private static let webMLimits = Limits(
    seconds: SecondsRange(shortest: 0.5, longest: 5.5), bytes: 1 << 20, pixels: 1 << 20, framesPerSecond: 240,
    streams: 4, containers: [.webM], videoCodecs: ["vp8", "vp9"], differenceSeconds: 0.5)

  /// A flag, whether the length is known, and a WebM: it is refused only if the walk over the whole file, or its tracks, or the times of
  /// its frames refuse it too.
  private static let arrivingWebM = FuzzTarget("arriving-webm") { input in
    guard let flag = input.first else { return }
    let file = Array(input.dropFirst())
    guard WebMWalker.recognizes(file), file.count <= webMLimits.bytes else { return }
    let found = judgement(
      of: file, AcceptedMedia(clip: webMLimits, as: .clip), length: flag & 1 == 1 ? Int64(file.count) : nil)
    let examined = WebMWalker.examine(size: Int64(file.count)) { offset, count throws(Never) in
      Array(file.dropFirst(Int(offset)).prefix(count))
    }
    switch examined {
    case .failure(let refusal): expect(found.end != nil, "a file that is accepted as it arrives: \(refusal)")
    case .success(let structure):
      guard let refusal = found.refusal ?? found.end, refusal.reason.code != .durationOutOfRange else { return }
      let reason = WebMJudgement(webMLimits, input: .clip).reason(structure.tracks)
      expect(reason?.code == refusal.reason.code, "a file that is accepted as a whole: \(refusal.reason.detail)")
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
}
