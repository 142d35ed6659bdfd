import Model
import Platform

/// Tells from a file's first bytes which family of container it is, before any demuxer sees it.
struct ContainerCheck {
  private let source: InputSource

  init(_ source: InputSource) { self.source = source }

  // The boxes with which writers begin (ISO/IEC 14496-12, and QuickTime's older ones).
  private static let firstBoxes: Set<String> = ["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot"]

  /// The container, if the limits allow it.
  func container() throws(Stop) -> ContainerName {
    let head = try head()
    guard head.count == 12, Self.firstBoxes.contains(Self.text(head[4..<8])) else {
      throw source.refusal(.unsupportedContainer, "it is no \(allowed) file")
    }
    // A file without a type box is a QuickTime film of the time before there was one.
    let brand = Self.text(head[4..<8]) == "ftyp" ? Self.text(head[8..<12]) : "qt  "
    let container: ContainerName = brand == "qt  " ? .mov : brand.hasPrefix("3g") ? .threeGP : .mp4
    guard source.limits.containers.contains(container) else {
      throw source.refusal(.unsupportedContainer, "it is a \(container.rawValue) file; \(allowed) is taken")
    }
    return container
  }

  private var allowed: String { source.limits.containers.map(\.rawValue).joined(separator: ", ") }

  private func head() throws(Stop) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: 12)
    let result = head.withUnsafeMutableBytes { bytes in
      Result { () throws(SystemError) in try source.file.descriptor.read(into: bytes, at: 0) }
    }
    do { return Array(head.prefix(try result.get())) } catch { throw Stop(error) }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
