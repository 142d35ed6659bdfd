import AV
import Model

/// The sound of an output: taken from an input's packets while they are read.
protocol AudioTrack: PacketTap {
  /// Writes what was held back.
  func finish() throws(Stop)
}

/// Makes the sound of an output as its plan says.
enum AudioTracks {
  /// Adds a stream to an output that is not started yet.
  ///
  /// - Parameters:
  ///   - start: where in the input the output begins, in seconds.
  ///   - seconds: where the output ends after that; nil: with the sound.
  static func track(
    _ mode: AudioPlan.Mode, of reader: ClipReader, from start: Double = 0, until seconds: Double?, output: OutputFile
  ) throws(Stop) -> (any AudioTrack)? {
    guard let facts = reader.plan.facts.audio else { return nil }
    return switch mode {
    case .copy: try CopiedAudio(of: reader, stream: facts.stream, from: start, until: seconds, output: output)
    case .encode: try EncodedAudio(of: reader, stream: facts.stream, from: start, until: seconds, output: output)
    }
  }
}
