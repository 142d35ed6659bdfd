import ISOBaseMedia
import Model
import Platform

/// Walks an input's boxes before any demuxer sees it: what it is, and whether it is whole.
struct ContainerCheck {
  private let source: InputSource

  init(_ source: InputSource) { self.source = source }

  /// The container of a file of this many bytes, if the limits allow it.
  func container(bytes: Int64) throws(Stop) -> ContainerName {
    let result: Result<ContainerStructure, ContainerRefusal>
    do {
      result = try ContainerWalker.examine(size: bytes) { (offset, count) throws(SystemError) in
        try read(count, at: offset)
      }
    } catch {
      throw Stop(error)
    }
    switch result {
    case .success(let structure): return try allowed(name(of: structure.family))
    case .failure(let refusal):
      throw .refused(
        Reason(code(of: refusal), input: source.name, detail: refusal.description, byteOffset: refusal.offset))
    }
  }

  private func allowed(_ container: ContainerName) throws(Stop) -> ContainerName {
    let allowed = source.limits.containers
    guard allowed.contains(container) else {
      let names = allowed.map(\.rawValue).joined(separator: ", ")
      throw source.refusal(.unsupportedContainer, "it is a \(container.rawValue) file; \(names) is taken")
    }
    return container
  }

  private func name(of family: ContainerStructure.Family) -> ContainerName {
    switch family {
    case .mov: .mov
    case .mp4: .mp4
    case .threeGP: .threeGP
    }
  }

  private func code(of refusal: ContainerRefusal) -> ReasonCode {
    switch refusal {
    case .empty: .emptyFile
    case .unsupported: .unsupportedContainer
    // Boxes that contradict each other are, of what phones and networks do, a file that was not written to its end.
    case .truncated, .damaged: .truncatedContainer
    case .noVideoTrack: .noVideoStream
    }
  }

  private func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { bytes in
      Result { () throws(SystemError) in try source.file.descriptor.read(into: bytes, at: offset) }
    }
    return Array(bytes.prefix(try result.get()))
  }
}
