import Glibc
import MediaFixtures
import Model
import Platform

/// A file that take5 made, and its expected properties.
struct Output: Sendable {
  /// The name of the submission and the role.
  let name: String
  let path: String
  /// The media type (RFC 6838).
  let type: String
  /// In pixels, as displayed.
  let width: Int
  let height: Int
  /// The number of displayed frames; nil for images.
  var frames: Int?
  /// The duration in seconds; nil for images.
  var seconds: Double?
  /// The duration of the audio in seconds; nil without audio.
  var audioSeconds: Double?
  /// The duration of an AAC frame of 1024 samples, in seconds.
  var audioFrameSeconds = 1024.0 / 48_000
  /// The hash of the content, which identifies duplicates.
  let digest: Int

  /// - Parameters:
  ///   - file: the content.
  ///   - facts: the reported facts.
  ///   - frames: nil: the number that libavcodec decodes.
  init(_ name: String, _ file: OpenFile, facts: OutputFacts, frames: Int? = nil) throws {
    try self.init(name, TemporaryFile.bytes(of: file), type: facts.type, width: facts.width, height: facts.height)
    guard facts.type == "video/mp4", let seconds = facts.duration else { return }
    let clip = try DecodedClip(file)
    var count = frames ?? 0
    if frames == nil { try clip.forEachFrame { _, _ in count += 1 } }
    self.frames = count
    self.seconds = seconds
    guard let audio = try clip.audio() else { return }
    audioSeconds = Double(audio.samples.count) / Double(audio.sampleRate)
    audioFrameSeconds = 1024 / Double(audio.sampleRate)
  }

  init(_ name: String, _ bytes: [UInt8], type: String, width: Int, height: Int) throws {
    self.name = name
    self.type = type
    self.width = width
    self.height = height
    let file = name.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" }
    path = "\(OutputFolder.path)/\(String(file)).\(type.split(separator: "/").last ?? "")"
    try Descriptor(writing: path, replacing: true).write(bytes)
    digest = bytes.hashValue
  }
}

/// The folder of the outputs, which stay there after the tests for the analysis of findings.
enum OutputFolder {
  static let path = "\(root)/.build/players"
  /// The root of the checkout.
  static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
}
