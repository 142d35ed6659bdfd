internal import Kernels
internal import Platform
internal import SyntheticMedia

/// One of the two clips of the moment: a scene with its audio, encoded as by a phone.
struct Clip<Filmed: Scene> {
  private static var frameRate: Int { 30 }
  private static var seconds: Int { 5 }

  /// The name of the file without its extension.
  let name: String
  let scene: Filmed
  let microphone: Microphone
  /// The time at which the camera starts, in seconds of the moment.
  let start: Float
  /// The rotation of the display matrix, in clockwise quarter turns.
  let quarterTurns: Int
  /// The metadata of the phone.
  let tags: PhoneTags?

  /// Renders and writes the clip; `progress` is called with the completed fraction.
  func write(into folder: String, progress: (Double) -> Void) async throws {
    let path = "\(folder)/\(name).mp4"
    let renderer = FrameRenderer(width: 1080, height: 1920, grain: 0.7)
    let settings = ClipSettings(
      width: renderer.width, height: renderer.height, frameRate: Self.frameRate, quarterTurns: quarterTurns,
      // Five reference frames of this size would need level 5, which no phone writes.
      videoOptions: ["preset": "slow", "crf": "24", "x264-params": "bframes=0:keyint=30:ref=4:threads=1"],
      audioBitRate: 96_000)
    let audio = microphone.record(Evening(), from: start, seconds: Float(Self.seconds))
    var writer = try ClipWriter(path: path, settings: settings, audio: audio)
    let buffer = ImageBuffer(width: renderer.width, height: renderer.height)
    let count = Self.frameRate * Self.seconds
    for frame in 0..<count {
      let time = start + Float(frame) / Float(Self.frameRate)
      await renderer.render(scene.shot(at: time), frame: frame, into: buffer)
      try writer.write(buffer.imagePlanes.reading)
      progress(Double(frame + 1) / Double(count))
    }
    try writer.finish()
    try tags?.write(into: path)
  }
}

/// The metadata that phones write: position, maker and model (Apple, QuickTime File Format, "Metadata").
struct PhoneTags {
  /// A file in which the media are not behind the index.
  struct UnexpectedLayout: Error {}

  /// The keys and values, in order.
  let values: [(key: String, value: String)]

  /// Appends the metadata to the index of a clip, which is in front of the media.
  func write(into path: String) throws {
    var file = try Descriptor(reading: path).contents()
    guard let movie = Self.boxes(of: file, in: 0..<file.count).first(where: { $0.type == "moov" }) else {
      throw UnexpectedLayout()
    }
    let added = box
    for table in Self.chunkTables(of: file, in: movie.content) {
      for entry in 0..<Self.number(file, table.content.lowerBound + 4) {
        let position = table.content.lowerBound + 8 + 4 * entry
        let offset = Self.number(file, position)
        // Media in front of the index would not move.
        guard offset >= movie.content.upperBound else { throw UnexpectedLayout() }
        file.replaceSubrange(position..<position + 4, with: Self.bytes(offset + added.count))
      }
    }
    let start = movie.content.lowerBound - 8
    file.replaceSubrange(start..<start + 4, with: Self.bytes(movie.content.count + 8 + added.count))
    file.insert(contentsOf: added, at: movie.content.upperBound)
    try Descriptor(writing: path, replacing: true).write(file)
  }

  private var box: [UInt8] {
    let version = Self.bytes(0)
    let handler = Self.box(
      "hdlr", version + Self.bytes(0) + Array("mdta".utf8) + [UInt8](repeating: 0, count: 12) + [0])
    let names = values.map { Self.box("mdta", Array($0.key.utf8)) }
    // The type of an item is the index of its key; type 1 of the data is UTF-8.
    let items = values.enumerated().map { index, tag in
      let data = Self.box("data", Self.bytes(1) + Self.bytes(0) + Array(tag.value.utf8))
      return Self.bytes(data.count + 8) + Self.bytes(index + 1) + data
    }
    let keys = Self.box("keys", version + Self.bytes(values.count) + names.joined())
    return Self.box("meta", version + handler + keys + Self.box("ilst", Array(items.joined())))
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    bytes(content.count + 8) + Array(type.utf8) + content
  }

  private static func bytes(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }

  private static func number(_ file: [UInt8], _ offset: Int) -> Int {
    file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func boxes(of file: [UInt8], in range: Range<Int>) -> [(type: String, content: Range<Int>)] {
    var found: [(type: String, content: Range<Int>)] = []
    var offset = range.lowerBound
    while offset + 8 <= range.upperBound {
      let size = number(file, offset)
      guard size >= 8, offset + size <= range.upperBound else { break }
      found.append((String(decoding: file[offset + 4..<offset + 8], as: UTF8.self), offset + 8..<offset + size))
      offset += size
    }
    return found
  }

  private static func chunkTables(of file: [UInt8], in range: Range<Int>) -> [(type: String, content: Range<Int>)] {
    boxes(of: file, in: range).flatMap { box -> [(type: String, content: Range<Int>)] in
      switch box.type {
      case "trak", "mdia", "minf", "stbl": chunkTables(of: file, in: box.content)
      case "stco": [box]
      default: []
      }
    }
  }
}
