import Glibc
import ISOBaseMedia
import Platform
import Testing

/// The directory of field media, from `TAKE5_FIELD_MEDIA`.
private let folder = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

private func files(_ name: String) -> [String] {
  guard let folder else { return [] }
  return ((try? Folder.names(in: "\(folder)/\(name)")) ?? []).sorted().map { "\(folder)/\(name)/\($0)" }
}

@Suite("Boxes of field media", .tags(.fieldMedia), .enabled(if: folder != nil, "TAKE5_FIELD_MEDIA is not set"))
struct FieldMediaTests {
  private func examine(_ path: String) throws -> (Result<ContainerStructure, ContainerRefusal>, reads: Int) {
    let file = OpenFile(try Descriptor(reading: path))
    var reads = 0
    let result = try ContainerWalker.examine(size: try file.descriptor.size()) { (offset: Int64, count: Int) throws in
      reads += 1
      var bytes = [UInt8](repeating: 0, count: count)
      let got = try bytes.withUnsafeMutableBytes { try file.descriptor.read(into: $0, at: offset) }
      return Array(bytes.prefix(got))
    }
    return (result, reads)
  }

  @Test("recordings of phones are accepted", arguments: files("videos"))
  func videos(path: String) throws {
    let (result, reads) = try examine(path)
    if path.hasSuffix(".webm") {
      guard case .failure(.unsupported(let found)) = result, found.name == "a WebM or Matroska file" else {
        Issue.record("\(path): \(result)")
        return
      }
    } else {
      #expect(throws: Never.self) { try result.get() }
    }
    #expect(reads < 100)
  }

  @Test("photos are rejected as clips", arguments: files("photos"))
  func photos(path: String) throws {
    guard case .failure(.unsupported(let found)) = try examine(path).0 else {
      Issue.record("\(path) was taken for a video")
      return
    }
    #expect(found.kind == .image)
  }

  @Test("hostile files are rejected if their boxes are invalid", arguments: files("hostile"))
  func hostile(path: String) throws {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let result = try examine(path).0
    switch name {
    case "mp4-no-moov.mp4", "mp4-missing-mdat-partial.mp4":
      guard case .failure(.truncated) = result else {
        Issue.record("\(name): \(result)")
        return
      }
    case "mp4-audio-only.mp4": #expect(result == .failure(.noVideoTrack(handlers: ["soun"])))
    case _ where !name.hasSuffix(".mp4"):
      guard case .failure = result else {
        Issue.record("\(name) was taken for a video")
        return
      }
    default: break
    }
  }
}

extension Tag {
  /// Reads field media, if the environment names their directory.
  @Tag static var fieldMedia: Self
}
