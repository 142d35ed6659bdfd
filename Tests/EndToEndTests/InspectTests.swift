import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("take5 inspect", .tags(.process))
struct InspectTests {
  /// The fields of a result that tests read.
  struct Output: Decodable, Sendable {
    struct Audio: Decodable { let codec: String }
    struct Color: Decodable {
      let hdr: String?
      let profile: String?
    }

    let file: String
    let verdict: String
    let reasons: [Reason]
    let warnings: [Warning]
    let display: Size?
    let transform: Transform?
    let duration: Double?
    let frames: Int?
    let audio: Audio?
    let color: Color?
    let identifying: [IdentifyingMetadata]
  }

  static func path(_ name: String) -> String { "\(Document.root)/\(name)" }

  static func inspect(_ paths: [String]) async throws -> (outputs: [Output], status: Int32?) {
    let command = try await Take5Command.run(["inspect", "--json"] + paths)
    let lines = command.output.split(separator: "\n")
    return (try lines.map { try JSON.decode(Output.self, from: Array($0.utf8)) }, command.status)
  }

  @Test("prints one line per file, in order, also for invalid and missing files")
  func order() async throws {
    let paths = [Self.path("samples/front.mp4"), "/nowhere.mp4", Self.path("README.md")]
    let (outputs, status) = try await Self.inspect(paths)
    #expect(status == 65)
    #expect(outputs.map(\.file) == paths)
    #expect(outputs.map(\.verdict) == ["accepted", "unreadable", "rejected"])
    #expect(outputs[0].display == Size(width: 1080, height: 1920))
    #expect(outputs[0].transform == Transform(rotation: .quarter, mirrored: false))
    #expect(outputs[0].frames == 150)
    #expect(outputs[2].reasons.map(\.code) == [.unsupportedContainer])
    #expect(try await Self.inspect(["/nowhere.mp4"]).status == 66)
    #expect(try await Self.inspect([paths[0]]).status == 0)
  }

  @Test("reports the format of an unsupported file and suggests another, whatever its name")
  func formats() async throws {
    let folder = try TemporaryFolder()
    let files: [(content: [UInt8], code: ReasonCode, contains: [String])] = [
      (Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], .unsupportedContainer, ["a GIF image", "as JPEG"]),
      (
        Array("<?xml version=\"1.0\"?>\n<!-- a logo -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n".utf8),
        .unsupportedContainer, ["an SVG drawing", "as JPEG"]
      ),
      (Array("BM".utf8) + [UInt8](repeating: 0, count: 60), .unsupportedContainer, ["a BMP image", "as JPEG"]),
      (Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0], .unsupportedContainer, ["a TIFF image", "as JPEG"]),
      ([0xFF, 0x0A, 0xFA, 0x7F, 0x01, 0x90, 0x08, 0x06], .unsupportedContainer, ["a JPEG XL image", "as JPEG"]),
    ]
    let others: [(content: [UInt8], code: ReasonCode, contains: [String])] = [
      (Array("a diary".utf8), .unsupportedContainer, ["a text file", "MP4", "HEIF"]),
      ([], .emptyFile, ["photo", "clip"]),
    ]
    let paths = try (files + others).enumerated().map { index, file in
      let path = "\(folder.path)/\(index).mp4"
      try Descriptor(writing: path, replacing: true).write(file.content)
      return path
    }
    let (outputs, _) = try await Self.inspect(paths)
    for (output, file) in zip(outputs, files + others) {
      let reason = try #require(output.reasons.first)
      #expect(reason.code == file.code)
      for text in file.contains { #expect(reason.detail.contains(text), "\(reason.detail)") }
    }
    for output in outputs.prefix(files.count) {
      #expect(output.reasons.first?.detail.contains("MP4") == false, "\(output.reasons)")
    }
  }

  static let folder = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  @Test(
    "each field file has the expected result",
    .enabled(if: folder != nil, "TAKE5_FIELD_MEDIA is not set"))
  func fieldMedia() async throws {
    let folder = try #require(Self.folder)
    var paths: [String] = []
    for part in Self.parts {
      paths += try Folders.files(below: "\(folder)/\(part)").map { String($0.dropFirst(folder.utf8.count + 1)) }
        .sorted()
    }
    #expect(Set(paths) == Set(Self.field.keys), "the table and the folder have different files")
    let (outputs, status) = try await Self.inspect(paths.map { "\(folder)/\($0)" })
    #expect(status == 65)
    #expect(outputs.count == paths.count)
    for (path, output) in zip(paths, outputs) {
      switch try #require(Self.field[path]) {
      case .clip(let width, let height, let rotation, let frames, let hdr, let hasLocation):
        #expect(output.verdict == "accepted", "\(path): \(output.reasons)")
        #expect(output.display == Size(width: width, height: height), "\(path)")
        #expect(output.transform == Transform(rotation: rotation, mirrored: false), "\(path)")
        #expect(output.frames == frames, "\(path)")
        #expect(output.color?.hdr == hdr, "\(path)")
        #expect(output.identifying.contains { $0.kind == .place } == hasLocation, "\(path)")
      case .photo(let width, let height, let rotation, let mirrored, let hdr, let hasLocation, let profile):
        #expect(output.verdict == "accepted", "\(path): \(output.reasons)")
        #expect(output.display == Size(width: width, height: height), "\(path)")
        #expect(output.transform == Transform(rotation: rotation, mirrored: mirrored), "\(path)")
        #expect(output.color?.hdr == hdr && output.color?.profile == profile, "\(path)")
        #expect(output.identifying.contains { $0.kind == .place } == hasLocation, "\(path)")
      case .rejected(let codes):
        #expect(output.verdict == "rejected", "\(path)")
        #expect(
          !output.reasons.isEmpty && codes.isSuperset(of: output.reasons.map(\.code)), "\(path): \(output.reasons)")
      }
    }
  }

  @Test("outputs are the same with --portable and --latency")
  func sameBytes() async throws {
    let temporary = try TemporaryFolder()
    let folder = temporary.path
    let clips = [Self.path("samples/front.mp4"), Self.path("samples/back.mp4")]
    let runs = ["plain": [], "portable": ["--portable"], "latency": ["--latency"]]
    for (name, options) in runs {
      let run = try await Take5Command.run(
        ["compose"] + clips + ["--both", "--outputs", "\(folder)/\(name)"] + options)
      #expect(run.status == 0)
    }
    let names = try Folders.files(below: "\(folder)/plain").map { String($0.split(separator: "/").last ?? "") }
    #expect(names.count == 10)
    for name in names {
      let plain = try Descriptor(reading: "\(folder)/plain/\(name)").contents()
      for other in ["portable", "latency"] {
        #expect(try Descriptor(reading: "\(folder)/\(other)/\(name)").contents() == plain, "\(name), \(other)")
      }
    }
  }
}
