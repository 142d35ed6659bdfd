import Glibc
import MediaFixtures
import Model
import Platform

/// A file that take5 made, under a name that programs can open, and what it has to hold.
struct Output: Sendable {
  /// What it was made of, and its role.
  let name: String
  let path: String
  /// The media type (RFC 6838).
  let type: String
  /// In pixels, upright.
  let width: Int
  let height: Int
  /// How many frames are shown; nil for pictures.
  var frames: Int?
  /// How long they are shown, in seconds; nil for pictures.
  var seconds: Double?
  /// How much sound there is, in seconds; nil: none.
  var soundSeconds: Double?
  /// How long a frame of AAC is, 1024 samples, in seconds.
  var soundFrameSeconds = 1024.0 / 48_000
  /// Tells files of the same content.
  let digest: Int

  /// - Parameters:
  ///   - file: its content.
  ///   - facts: what is said of it.
  ///   - frames: nil: as many as FFmpeg's library decodes of it.
  init(_ name: String, _ file: OpenFile, facts: OutputFacts, frames: Int? = nil) throws {
    try self.init(name, TemporaryFile.bytes(of: file), type: facts.type, width: facts.width, height: facts.height)
    guard facts.type == "video/mp4", let seconds = facts.duration else { return }
    let clip = try DecodedClip(file)
    var count = frames ?? 0
    if frames == nil { try clip.forEachPicture { _, _ in count += 1 } }
    self.frames = count
    self.seconds = seconds
    guard let sound = try clip.sound() else { return }
    soundSeconds = Double(sound.samples.count) / Double(sound.sampleRate)
    soundFrameSeconds = 1024 / Double(sound.sampleRate)
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

/// Where the outputs lie while they are judged, and afterwards, so that a finding can be looked into.
enum OutputFolder {
  static let path = "\(root)/.build/players"
  /// The root of the checkout.
  static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
}
