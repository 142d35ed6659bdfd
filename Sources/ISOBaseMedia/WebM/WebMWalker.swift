package import Model

/// Reads the elements of a file and checks whether it is a WebM.
package enum WebMWalker {
  /// Whether a file begins as Matroska and WebM do, with a header of EBML.
  package static func recognizes(_ start: some Collection<UInt8>) -> Bool {
    start.starts(with: [0x1A, 0x45, 0xDF, 0xA3])
  }

  /// Examines a file that begins so.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - read: returns `count` bytes at an offset; fewer only at the end of the file.
  package static func examine<Failure: Error>(
    size: Int64, read: @escaping (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Result<WebMStructure, ContainerRefusal> {
    var window = FileWindow(size: size, read: read)
    var walk = WebMWalk(size: size)
    while let request = walk.request {
      let bytes = try window.bytes(at: request.offset, count: request.count)
      do throws(ContainerRefusal) { try walk.take(bytes) } catch { return .failure(error) }
    }
    guard let structure = walk.structure else { preconditionFailure("a pass ended without a result") }
    return .success(structure)
  }
}

/// The structure of a valid WebM, by its elements.
package struct WebMStructure: Sendable, Hashable {
  package let tracks: [WebMTrack]
  /// The start of recording in seconds since 1970; nil if the file has none.
  package let recorded: Double?
  /// Identifying metadata without repetitions, in the order of the file.
  package let identifying: [IdentifyingMetadata]
}
