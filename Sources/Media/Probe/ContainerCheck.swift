import ISOBaseMedia
import Model
import Platform

/// Walks an input's boxes before any demuxer sees it: what it is, whether it is whole, and what else it says.
struct ContainerCheck {
  let container: ContainerName
  let metadata: MovieMetadata

  // A phone's index of some seconds has a few kilobytes; of a longer one no metadata is read.
  private static let maxMovieBytes: Int64 = 16 << 20

  /// Checks a file of this many bytes.
  init(_ source: InputSource, bytes: Int64) throws(Stop) {
    let result: Result<ContainerStructure, ContainerRefusal>
    do {
      result = try ContainerWalker.examine(size: bytes) { (offset, count) throws(SystemError) in
        try source.file.descriptor.bytes(count: count, at: offset)
      }
    } catch {
      throw Stop(error)
    }
    switch result {
    case .success(let structure):
      container = try Self.allowed(structure, source)
      metadata = try Self.metadata(structure, source)
    case .failure(let refusal): throw .refused(Reason(refusal, input: source.name))
    }
  }

  private static func allowed(_ structure: ContainerStructure, _ source: InputSource) throws(Stop) -> ContainerName {
    let container = structure.family
    let allowed = source.limits.containers
    guard allowed.contains(container) else {
      let names = allowed.map(\.rawValue).joined(separator: ", ")
      throw source.refusal(.unsupportedContainer, "it is a \(container.rawValue) file; \(names) is taken")
    }
    return container
  }

  private static func metadata(_ structure: ContainerStructure, _ source: InputSource) throws(Stop) -> MovieMetadata {
    let content = structure.movieContent
    do {
      return MovieMetadata(
        movie: try source.file.descriptor.bytes(
          count: Int(min(content.upperBound - content.lowerBound, maxMovieBytes)), at: content.lowerBound),
        outside: structure.identifying)
    } catch {
      throw Stop(error)
    }
  }
}
