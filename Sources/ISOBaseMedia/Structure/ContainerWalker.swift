package import Model

/// Reads the boxes of a file and checks whether it is a clip (ISO/IEC 14496-12; Apple, QuickTime File Format).
///
/// It checks every size, reads headers only, and visits a bounded number of boxes to a bounded depth.
package enum ContainerWalker {
  /// Examines a file.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - read: returns `count` bytes at an offset; fewer only at the end of the file.
  package static func examine<Failure: Error>(
    size: Int64, read: @escaping (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Result<ContainerStructure, ContainerRefusal> {
    var window = FileWindow(size: size, read: read)
    var walk = ContainerWalk(size: size, readsMetadata: true)
    while let request = walk.request {
      let bytes = try window.bytes(at: request.offset, count: request.count)
      do throws(ContainerRefusal) { try walk.take(bytes) } catch { return .failure(error) }
    }
    guard let structure = walk.structure else { preconditionFailure("a pass ended without a result") }
    return .success(structure)
  }
}

/// The structure of a valid file, by its boxes.
package struct ContainerStructure: Sendable, Hashable {
  /// The container family by the major brand.
  package let family: ContainerName
  /// Nil for old QuickTime files, which have no brands.
  package let majorBrand: BoxType?
  /// The offset of the `moov` box.
  package let movieOffset: Int64
  /// The range of its content.
  package let movieContent: Range<Int64>
  /// The offset of the first `mdat` box.
  package let mediaDataOffset: Int64
  /// Whether the file has movie fragments (`mvex`, `moof`).
  package let isFragmented: Bool
  /// The types of the top-level boxes, in order.
  package let outermost: [BoxType]
  /// The identifying metadata in top-level boxes other than `moov`, in order.
  package let identifying: [IdentifyingMetadata]
  /// The handler types of the tracks, in order: `vide`, `soun`, `meta`…
  package let handlers: [BoxType]

  /// Whether a player can start before it has received the entire file.
  package var isFastStart: Bool { movieOffset < mediaDataOffset }
}

/// Reads a file through a small buffer, so that reading box headers takes few calls.
struct FileWindow<Failure: Error> {
  /// Reads at most `count` bytes at an offset; fewer only at the end of the file.
  typealias Reader = (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]

  /// The length of the file in bytes.
  let size: Int64
  private let read: Reader
  private var start: Int64 = 0
  private var bytes: [UInt8] = []
  private let length = 4096

  init(size: Int64, read: @escaping Reader) {
    self.size = size
    self.read = read
  }

  /// Returns `count` bytes at an offset; fewer at the end of the file.
  mutating func bytes(at offset: Int64, count: Int) throws(Failure) -> ArraySlice<UInt8> {
    let wanted = Int(min(Int64(count), max(0, size - offset)))
    if offset < start || offset + Int64(wanted) > start + Int64(bytes.count) {
      bytes = try read(offset, Int(min(Int64(max(length, wanted)), max(0, size - offset))))
      start = offset
    }
    return bytes.dropFirst(Int(offset - start)).prefix(wanted)
  }
}
