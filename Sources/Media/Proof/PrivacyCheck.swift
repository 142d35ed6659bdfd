import ISOBaseMedia
import Model
import Platform

/// Parses a finished output and checks that it names no place, device or person, and that strict players accept it.
///
/// What made the output left such things out; this asks the output itself.
struct PrivacyCheck {
  let role: Role
  let file: OpenFile

  /// - Throws: a failure of ours, not a refusal: the clip is not to blame for what we wrote.
  func check() throws(Stop) {
    let finding: String?
    do {
      let bytes = try file.descriptor.size()
      let start = try file.descriptor.bytes(count: 12, at: 0)
      if start.starts(with: [0xFF, 0xD8]) {
        finding = JPEGPrivacyCheck.finding(in: try file.descriptor.bytes(count: Int(bytes), at: 0))
      } else if start.starts(with: Array("RIFF".utf8)) {
        finding = WebPPrivacyCheck.finding(in: try file.descriptor.bytes(count: Int(bytes), at: 0))
      } else {
        finding = try videoFinding(bytes)
      }
    } catch {
      switch error {
      case let error as SystemError: throw Stop(error)
      default: throw .failed(MediaError(.library, "\(role.rawValue) cannot be read back: \(error)"))
      }
    }
    if let finding { throw .failed(MediaError(.library, "\(role.rawValue) is not as it must be: \(finding)")) }
  }

  private func videoFinding(_ bytes: Int64) throws -> String? {
    let examined = try ContainerWalker.examine(size: bytes) { (offset, count) throws(SystemError) in
      try file.descriptor.bytes(count: count, at: offset)
    }
    let structure: ContainerStructure
    switch examined {
    case .success(let found): structure = found
    case .failure(let refusal): return "\(refusal)"
    }
    let known: Set<BoxType> = ["ftyp", "moov", "free", "mdat"]
    if let foreign = structure.outermost.first(where: { !known.contains($0) }) { return "a box '\(foreign)'" }
    if !structure.isFastStart { return "its index behind its media" }
    if let foreign = structure.handlers.first(where: { $0 != "vide" && $0 != "soun" }) {
      return "a track of '\(foreign)'"
    }
    let content = structure.movieContent
    let metadata = MovieMetadata(
      movie: try file.descriptor.bytes(count: Int(content.upperBound - content.lowerBound), at: content.lowerBound))
    if let key = metadata.identifying.first?.key { return key }
    // The muxer's name is the one thing that it writes of itself.
    if let name = metadata.names.first(where: { $0 != "©too" }) { return name }
    if metadata.recorded != nil { return "a time of recording" }
    return try MovieCheck.finding(size: bytes, visit: UnitMessages.finding) { (offset, count) throws(SystemError) in
      try file.descriptor.bytes(count: count, at: offset)
    }
  }
}
