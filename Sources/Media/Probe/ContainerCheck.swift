import AV
import ISOBaseMedia
import Model
import Platform

/// Walks the boxes or elements of an input before a demuxer opens it: its container, its completeness and its metadata.
struct ContainerCheck {
  let container: ContainerName
  /// What demuxers do not report of the tracks; empty of a WebM.
  let tracks: [TrackMetadata]
  /// The start of recording in seconds since 1970; nil if the file has none.
  let recorded: Double?
  let identifying: [IdentifyingMetadata]
  /// The duration in seconds by the movie header; nil of a WebM, and if there is none.
  let duration: Double?

  // The `moov` box of a short clip has a few kilobytes. Metadata beyond this size is not read.
  private static let maxMovieBytes: Int64 = 16 << 20

  /// Checks a file of this many bytes.
  init(_ source: InputSource, bytes: Int64) throws(RunFailure) {
    let allowed = source.limits.containers
    if allowed.contains(.webM), WebMWalker.recognizes(try Self.bytes(of: source, count: 4, at: 0)) {
      let structure = try Self.webM(source, bytes: bytes)
      container = .webM
      tracks = []
      (recorded, identifying, duration) = (structure.recorded, structure.identifying, nil)
    } else {
      let structure = try Self.boxes(source, bytes: bytes)
      container = structure.family
      guard allowed.contains(container) else {
        throw .refused(.unsupported(container, accepted: allowed, input: source.name))
      }
      let metadata = try Self.metadata(structure, source)
      (tracks, recorded, identifying) = (metadata.tracks, metadata.recorded, metadata.identifying)
      duration = metadata.duration
    }
  }

  private static func boxes(_ source: InputSource, bytes: Int64) throws(RunFailure) -> ContainerStructure {
    try structure(source) { () throws(RunFailure) in
      try ContainerWalker.examine(size: bytes) { (offset, count) throws(RunFailure) in
        try Self.bytes(of: source, count: count, at: offset)
      }
    }
  }

  private static func webM(_ source: InputSource, bytes: Int64) throws(RunFailure) -> WebMStructure {
    let structure = try structure(source) { () throws(RunFailure) in
      try WebMWalker.examine(size: bytes) { (offset, count) throws(RunFailure) in
        try Self.bytes(of: source, count: count, at: offset)
      }
    }
    if let reason = WebMJudgement(source.limits, input: source.name).reason(structure.tracks) { throw .refused(reason) }
    return structure
  }

  private static func structure<Structure>(
    _ source: InputSource, _ examine: () throws(RunFailure) -> Result<Structure, ContainerRefusal>
  ) throws(RunFailure) -> Structure {
    switch try examine() {
    case .success(let structure): return structure
    case .failure(let refusal):
      throw .refused(Reason(refusal, input: source.name, accepted: source.limits.containers))
    }
  }

  private static func metadata(_ structure: ContainerStructure, _ source: InputSource) throws(RunFailure)
    -> MovieMetadata
  {
    let content = structure.movieContent
    let count = Int(min(content.upperBound - content.lowerBound, maxMovieBytes))
    return MovieMetadata(
      movie: try bytes(of: source, count: count, at: content.lowerBound), outside: structure.identifying)
  }

  private static func bytes(of source: InputSource, count: Int, at offset: Int64) throws(RunFailure) -> [UInt8] {
    do { return try source.file.descriptor.bytes(count: count, at: offset) } catch { throw RunFailure(error) }
  }
}
