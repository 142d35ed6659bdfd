package import Model

/// What a `moov` box says beside what a demuxer reads: when it was recorded, what gives away place or device, and the
/// parts of sample entries that demuxers pass over.
package struct MovieMetadata: Hashable, Sendable {
  /// When recording began, in seconds since 1970, to the second; nil if the file does not say.
  package let recorded: Double?
  /// What tells about more than the moment, each once, in the order of the file.
  package let identifying: [IdentifyingMetadata]
  package let tracks: [TrackMetadata]
  /// The names of all user data and metadata, of whatever kind.
  package let names: [String]

  /// - Parameters:
  ///   - content: of the `moov` box, without its header.
  ///   - outside: what the outermost boxes give away.
  package init(movie content: [UInt8], outside: [IdentifyingMetadata] = []) {
    let movie = Box(type: "moov", content: content[...])
    let boxes = movie.children()
    let trackBoxes = boxes.filter { $0.type == "trak" }
    let header = movie.child("mvhd")?.reader
    let timescale = header?.unsigned32(at: header?.byte(at: 0) == 1 ? 20 : 12) ?? 0
    tracks = trackBoxes.map { TrackMetadata($0, movieTimescale: timescale) }
    var found: [IdentifyingMetadata] = []
    var names: [String] = []
    var creationDate: String?
    func read(_ metadata: KeyedMetadata) {
      creationDate = creationDate ?? metadata.value(of: "com.apple.quicktime.creationdate")
      names += metadata.keys + metadata.items.map(\.latin)
      found += metadata.keys.compactMap { IdentifyingMetadata.key($0) }
      found += metadata.items.compactMap { IdentifyingMetadata.userData($0) }
    }
    for box in boxes + trackBoxes.flatMap({ $0.children() }) {
      switch box.type {
      case "udta":
        for item in box.children() {
          if item.type == "meta" {
            read(KeyedMetadata(item))
          } else {
            names.append(item.type.latin)
            if let identification = IdentifyingMetadata.userData(item) { found.append(identification) }
          }
        }
      case "meta": read(KeyedMetadata(box))
      case "uuid", "gps ":
        names.append(box.type.latin)
        if let identification = IdentifyingMetadata.userData(box) { found.append(identification) }
      default: break
      }
    }
    found += trackBoxes.compactMap(Self.timed)
    found += outside
    var seen: Set<IdentifyingMetadata> = []
    identifying = found.filter { seen.insert($0).inserted }
    self.names = names
    recorded = creationDate.flatMap(RecordingTime.seconds(iso8601:)) ?? RecordingTime.seconds(movieHeader: movie)
  }

  /// What a track that is neither picture nor sound gives away.
  private static func timed(_ track: Box) -> IdentifyingMetadata? {
    let media = track.child("mdia")
    let handler = media?.child("hdlr")?.reader.unsigned32(at: 8).map { BoxType(code: $0) }
    guard handler != "vide", handler != "soun" else { return nil }
    return media?.descendant("minf", "stbl", "stsd")?.children(after: 8).first.flatMap(IdentifyingMetadata.timed)
  }
}
