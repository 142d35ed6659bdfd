import Model

/// One pass over the boxes of a file.
struct ContainerWalk<Failure: Error> {
  /// The reason for a pass without a result.
  enum Ending: Error {
    case refused(ContainerRefusal)
    case unreadable(Failure)
  }

  // A phone's clip has about a hundred boxes; a fragmented clip of some seconds has a few hundred.
  private let maxBoxes = 10_000
  // The bytes that are read of a `uuid` box; an XMP packet has a few kilobytes.
  private let maxContent: Int64 = 1 << 16

  private var window: FileWindow<Failure>
  private var visitedBoxes = 0
  private var majorBrand: BoxType?
  private var movie: BoxHeader?
  private var mediaDataOffset: Int64?
  private var isFragmented = false
  private var outermost: [BoxType] = []
  private var identifying: [IdentifyingMetadata] = []
  private var handlers: [BoxType] = []

  init(window: FileWindow<Failure>) { self.window = window }

  mutating func run() throws(Ending) -> ContainerStructure {
    guard window.size > 0 else { throw .refused(.empty) }
    try checkStart()
    try visitChildren(from: 0, to: window.size, depth: 0)
    guard let movie else {
      throw .refused(.truncated(finding: "it has no 'moov' box, which describes its tracks", offset: window.size))
    }
    guard let mediaDataOffset else {
      throw .refused(.truncated(finding: "it has no 'mdat' box, which holds its frames", offset: window.size))
    }
    guard handlers.contains("vide") else { throw .refused(.noVideoTrack(handlers: handlers)) }
    return ContainerStructure(
      family: majorBrand.map(Brand.family) ?? .mov, majorBrand: majorBrand, movieOffset: movie.offset,
      movieContent: movie.content..<movie.end, mediaDataOffset: mediaDataOffset, isFragmented: isFragmented,
      outermost: outermost, identifying: identifying, handlers: handlers)
  }

  /// Rejects a file that does not start with a known box.
  private mutating func checkStart() throws(Ending) {
    let start = try bytes(at: 0, count: FileSignature.length)
    // A file of fewer than eight bytes may be the start of a truncated container.
    let type = start.dropFirst(4).prefix(4)
    let isCutShort = start.count < 8 && start.first == 0
    let isBox = FileSignature.firstBoxes.contains { $0.bytes.starts(with: type) }
    guard isBox, start.count >= 8 || isCutShort else {
      throw .refused(.unsupported(FileSignature(start)))
    }
  }

  /// Visits the consecutive boxes in a range of the file.
  private mutating func visitChildren(from start: Int64, to limit: Int64, depth: Int) throws(Ending) {
    var offset = start
    while offset < limit {
      if limit - offset < 8, isComplete(atDepth: depth) { return }
      visitedBoxes += 1
      guard visitedBoxes <= maxBoxes else {
        throw .refused(.damaged(finding: "it has more than \(maxBoxes) boxes", offset: offset))
      }
      let box = try header(at: offset, limit: limit, depth: depth)
      if depth == 0 { try visitTopLevel(box) } else { try visitMovie(box, depth: depth) }
      offset = box.end
    }
  }

  private mutating func header(at offset: Int64, limit: Int64, depth: Int) throws(Ending) -> BoxHeader {
    let header: BoxHeader
    let bytes = try bytes(at: offset, count: 16)
    do throws(BoxHeader.HeaderError) {
      header = try BoxHeader(bytes, at: offset, limit: limit)
    } catch {
      switch error {
      case .endsInside: throw .refused(.truncated(finding: "it ends inside the header of a box", offset: offset))
      case .impossibleSize(let size):
        throw .refused(.damaged(finding: "the size of a box is \(size) bytes, less than its header", offset: offset))
      }
    }
    guard header.end > limit else { return header }
    let length = header.end == .max ? "more than 2^62 bytes" : "\(header.end - offset) bytes"
    guard depth == 0 else {
      throw .refused(
        .damaged(
          finding: "the size of the box '\(header.type)' is \(length), which exceeds its parent", offset: offset))
    }
    throw .refused(
      .truncated(
        finding:
          "the size of the box '\(header.type)' is \(length), but the file ends after \(limit - offset) bytes of it",
        offset: offset))
  }

  private mutating func visitTopLevel(_ box: BoxHeader) throws(Ending) {
    outermost.append(box.type)
    switch box.type {
    case "ftyp": try visitFileType(box)
    case "moov":
      guard movie == nil else { return }
      movie = box
      try visitChildren(from: box.content, to: box.end, depth: 1)
    case "mdat": mediaDataOffset = mediaDataOffset ?? box.offset
    case "moof": isFragmented = true
    default: try visitOther(box)
    }
  }

  private mutating func visitOther(_ box: BoxHeader) throws(Ending) {
    guard identifying.count < MovieMetadata.maxIdentifying else { return }
    if box.type == "uuid" {
      identifying.append(.named(try bytes(at: box.content, count: Int(min(box.end - box.content, maxContent)))))
    } else if let identification = IdentifyingMetadata.outermost(box.type) {
      identifying.append(identification)
    }
  }

  private mutating func visitFileType(_ box: BoxHeader) throws(Ending) {
    guard majorBrand == nil else { return }
    let brand = try bytes(at: box.content, count: 4)
    guard box.end - box.content >= 8, brand.count == 4 else {
      throw .refused(.damaged(finding: "the box 'ftyp' has no brand", offset: box.offset))
    }
    let major = BoxType(code: brand.reduce(0) { $0 << 8 | UInt32($1) })
    let signature = FileSignature(brand: major)
    if signature.kind == .image { throw .refused(.unsupported(signature)) }
    majorBrand = major
  }

  /// Visits the paths to each track's handler, edits and tables: `moov` / `trak` / `mdia` / `minf` / `stbl`. No other
  /// box is entered, so that the depth is bounded.
  private mutating func visitMovie(_ box: BoxHeader, depth: Int) throws(Ending) {
    switch (box.type, depth) {
    case ("trak", 1), ("mdia", 2), ("edts", 2), ("minf", 3), ("stbl", 4):
      try visitChildren(from: box.content, to: box.end, depth: depth + 1)
    case ("elst", 3), (_, 5): try checkTable(box)
    case ("mvex", 1): isFragmented = true
    case ("hdlr", 3):
      // Version and flags, a field of QuickTime, and the handler type (ISO/IEC 14496-12, 8.4.3).
      let content = try bytes(at: box.content, count: 12)
      guard box.end - box.content >= 12, content.count == 12 else {
        throw .refused(.damaged(finding: "the box 'hdlr' has no handler type", offset: box.offset))
      }
      handlers.append(BoxType(code: content.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }))
    default: break
    }
  }

  private mutating func checkTable(_ box: BoxHeader) throws(Ending) {
    let size = box.end - box.content
    let start = try bytes(at: box.content, count: Int(min(size, Int64(TrackTable.headerBytes))))
    guard let finding = TrackTable.finding(in: box.type, start: start, size: size, fileBytes: window.size) else {
      return
    }
    throw .refused(.damaged(finding: finding, offset: box.offset))
  }

  /// Whether trailing bytes, too few for a box, are allowed: phones write some at the end of complete files, and
  /// QuickTime ends some lists with 32 zero bits. In an incomplete file they are a truncated header.
  private func isComplete(atDepth depth: Int) -> Bool {
    depth > 0 || (movie != nil && mediaDataOffset != nil && !isFragmented)
  }

  private mutating func bytes(at offset: Int64, count: Int) throws(Ending) -> ArraySlice<UInt8> {
    do throws(Failure) { return try window.bytes(at: offset, count: count) } catch { throw .unreadable(error) }
  }
}
