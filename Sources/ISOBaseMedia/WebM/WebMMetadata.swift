import Model

/// What the elements `Info` and `Tags` of a WebM say beside its tracks.
struct WebMMetadata: Sendable {
  /// The duration of a tick in nanoseconds.
  private(set) var timestampScale: UInt64 = 1_000_000
  private(set) var recorded: Double?
  /// Without repetitions, in the order of the file.
  private(set) var identifying: [IdentifyingMetadata] = []
  private(set) var hasInfo = false

  // Names of tags have some twenty characters, and tags of tags are few.
  private static let maxNameBytes = 256
  private static let maxDepth = 4

  /// Reads the content of the `Info`; returns false if it is inconsistent.
  mutating func readInfo(_ content: ArraySlice<UInt8>) -> Bool {
    hasInfo = true
    guard let elements = Element.list(in: content) else { return false }
    if let scale = elements.first(.timestampScale) {
      guard let value = scale.unsigned, value > 0 else { return false }
      timestampScale = value
    }
    if let date = elements.first(.date), date.content.count == 8, let value = date.unsigned {
      recorded = RecordingTime.seconds(since2001: Int64(bitPattern: value))
    }
    if let title = elements.first(.title), !title.content.isEmpty {
      add(IdentifyingMetadata(kind: .other, key: "Title"))
    }
    return true
  }

  /// Reads the content of a `Tags`; returns false if it is inconsistent.
  mutating func readTags(_ content: ArraySlice<UInt8>) -> Bool {
    guard let elements = Element.list(in: content) else { return false }
    return elements.filter { $0.id == .tag }.allSatisfy { readTags(in: $0, depth: 0) }
  }

  private mutating func readTags(in element: Element, depth: Int) -> Bool {
    guard let elements = element.children else { return false }
    if let name = elements.first(.tagName)?.text(upTo: Self.maxNameBytes), let found = IdentifyingMetadata.tag(name) {
      add(found)
    }
    guard depth < Self.maxDepth else { return true }
    return elements.filter { $0.id == .simpleTag }.allSatisfy { readTags(in: $0, depth: depth + 1) }
  }

  private mutating func add(_ found: IdentifyingMetadata) {
    guard identifying.count < MovieMetadata.maxIdentifying, !identifying.contains(found) else { return }
    identifying.append(found)
  }
}

extension IdentifyingMetadata {
  /// Classifies a tag of Matroska by its name (RFC 9559, "Matroska Tags"); nil for what writers count and call themselves.
  fileprivate static func tag(_ name: String) -> IdentifyingMetadata? {
    let counts = ["DURATION", "BPS", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES"]
    return name.isEmpty || counts.contains(name) || name.utf8.starts(with: "_STATISTICS".utf8) ? nil : key(name)
  }
}
