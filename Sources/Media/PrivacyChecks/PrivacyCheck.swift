import ISOBaseMedia
import Model
import Platform

/// Parses a finished output and checks that it holds no identifying metadata and that strict players accept it.
///
/// The writers leave such metadata out; this check does not rely on them.
struct PrivacyCheck {
  let role: Role
  let file: OpenFile

  /// - Throws: a failure of the run, not a refusal, as the input does not cause it.
  func check() throws(RunFailure) {
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
      case let error as SystemError: throw RunFailure(error)
      default: throw .failed(MediaError(.library, "\(role.rawValue) cannot be read back: \(error)"))
      }
    }
    if let finding { throw .failed(MediaError(.library, "the privacy check of \(role.rawValue) found \(finding)")) }
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
    if !structure.isFastStart { return "the 'moov' box after the 'mdat' box" }
    if let foreign = structure.handlers.first(where: { $0 != "vide" && $0 != "soun" }) {
      return "a track of '\(foreign)'"
    }
    let content = structure.movieContent
    let metadata = MovieMetadata(
      movie: try file.descriptor.bytes(count: Int(content.upperBound - content.lowerBound), at: content.lowerBound))
    if let key = metadata.identifying.first?.key { return key }
    // The muxer writes its own name.
    if let name = metadata.names.first(where: { $0 != "©too" }) { return name }
    if metadata.recorded != nil { return "a recording time" }
    return try MovieCheck.finding(size: bytes, visit: SEIPrivacyCheck.finding) { (offset, count) throws(SystemError) in
      try file.descriptor.bytes(count: count, at: offset)
    }
  }
}

/// The supplemental enhancement information (SEI) of H.264 (ITU-T H.264, 7.3.2.3), which can hold metadata of the
/// maker.
enum SEIPrivacyCheck {
  // The UUID under which x264 writes its settings; they describe the encoder of this program.
  private static let x264: [UInt8] = [
    0xDC, 0x45, 0xE9, 0xBD, 0xE6, 0xD9, 0x48, 0xB7, 0x96, 0x2C, 0xD8, 0x20, 0xD9, 0x23, 0xEE, 0xEF,
  ]

  /// The finding of user data in a NAL unit (D.2.5, D.2.6); nil if there is none.
  static func finding(_ unit: NALUnit) -> String? {
    guard unit.kind == .sei, isUserData(unit.bytes.dropFirst()) else { return nil }
    return "SEI messages with user data"
  }

  private static func isUserData(_ message: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let type = message.first, type == 4 || type == 5 else { return false }
    return !message.dropFirst().drop { $0 == 0xFF }.dropFirst().starts(with: x264)
  }
}
