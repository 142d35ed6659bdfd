package import Model

/// One pass over the boxes of a file.
///
/// It asks for the bytes that it needs, in the order of the file, so that it judges a file that lies on a disk as well as
/// one that still arrives. It holds no bytes, and what it collects is bounded.
package struct ContainerWalk: Sendable {
  /// The bytes that a pass needs next.
  package struct Request: Hashable, Sendable {
    package let offset: Int64
    package let count: Int
  }

  /// What the requested bytes are.
  private enum Step {
    case start
    case header
    case content(BoxHeader)
  }

  // The bytes that are read of a `uuid` box; an XMP packet has a few kilobytes.
  private static let maxContent: Int64 = 1 << 16

  /// Nil at the end of the pass.
  package private(set) var request: Request?
  /// The start of the box that is visited; at the end of the pass, the end of the file.
  package private(set) var position: Int64 = 0
  /// The handler types of the tracks that were visited, in order.
  package private(set) var handlers: [BoxType] = []
  /// Whether no outermost box so far may hold a movie other than the first `moov` box, in which a demuxer finds tracks.
  package private(set) var hidesNoMovie = true
  /// The structure of the file; nil before the end of the pass.
  package private(set) var structure: ContainerStructure?

  private var size: Int64?
  private let readsMetadata: Bool
  private var step = Step.start
  /// The ends of the boxes that were entered, the file first.
  private var limits: [Int64]
  /// Where the next box begins.
  private var offset: Int64 = 0
  private var visitedBoxes = 0
  private var majorBrand: BoxType?
  private var movie: BoxHeader?
  private var lastOutermost: BoxHeader?
  private var mediaDataOffset: Int64?
  private var isFragmented = false
  private var outermost: [BoxType] = []
  private var identifying: [IdentifyingMetadata] = []
  /// The first table, with its first bytes, that is possible only in a file of some length, which is not known yet.
  private var unjudgedTable: (box: BoxHeader, start: [UInt8])?

  /// - Parameters:
  ///   - size: the length of the file in bytes; nil if it is not known yet.
  ///   - readsMetadata: whether the content of `uuid` boxes, which is never a reason for a refusal, is read.
  package init(size: Int64?, readsMetadata: Bool) {
    self.size = size
    self.readsMetadata = readsMetadata
    limits = [size ?? .max]
    ask(.start, at: 0, count: FileSignature.length)
  }

  /// The start of the first `moov` box; nil before its header.
  package var movieOffset: Int64? { movie?.offset }

  /// The content of the first `moov` box; nil before its header.
  package var movieContent: Range<Int64>? { movie.map { $0.content..<$0.end } }

  /// Whether the first `moov` box and all that is in it were visited.
  package var hasVisitedMovie: Bool { movie != nil && limits.count <= 1 }

  /// The container family by the major brand; nil before the brand.
  package var family: ContainerName? { majorBrand.map(Brand.family) }

  /// Takes the requested bytes; fewer only at the end of the file.
  package mutating func take(_ bytes: ArraySlice<UInt8>) throws(ContainerRefusal) {
    switch step {
    case .start:
      try checkStart(bytes)
      try visitNext()
    case .header: try visitBox(bytes)
    case .content(let box):
      try read(bytes, of: box)
      if limits.count == 1 { try skipOutermost(box) } else { try skip(box) }
    }
  }

  /// Sets the length of a file, once all of it has arrived, if it was not known before.
  package mutating func end(at size: Int64) throws(ContainerRefusal) {
    guard self.size == nil else { return }
    self.size = size
    if let table = unjudgedTable { try judge(table.box, table.start[...], fileBytes: size) }
    // A box that extends to the end of the file ends here.
    if let box = lastOutermost, box.end < .max, box.end > size, !isTrailer(box.type) {
      throw exceeding(box, limit: size)
    }
    limits = limits.map { min($0, size) }
    offset = min(offset, size)
    switch step {
    case .header:
      visitedBoxes -= 1
      try visitNext()
    case .start, .content: if let request { ask(step, at: min(request.offset, size), count: request.count) }
    }
  }

  private mutating func ask(_ step: Step, at offset: Int64, count: Int) {
    self.step = step
    request = Request(offset: offset, count: size.map { Int(min(Int64(count), max(0, $0 - offset))) } ?? count)
  }

  /// Rejects a file that does not start with a known box.
  private func checkStart(_ start: ArraySlice<UInt8>) throws(ContainerRefusal) {
    guard !start.isEmpty else { throw .empty }
    // A file of fewer than eight bytes may be the start of a truncated container.
    let type = start.dropFirst(4).prefix(4)
    let isCutShort = start.count < 8 && start.first == 0
    let isBox = FileSignature.firstBoxes.contains { $0.bytes.starts(with: type) }
    guard isBox, start.count >= 8 || isCutShort else { throw .unsupported(FileSignature(start)) }
  }

  /// Asks for the header of the next box, in the innermost box that has one.
  private mutating func visitNext() throws(ContainerRefusal) {
    while let limit = limits.last {
      // While the length is unknown, another box may follow.
      let isOpen = size == nil && limits.count == 1
      if isOpen || offset < limit && (limit - offset >= 8 || !isComplete(atDepth: limits.count - 1)) {
        visitedBoxes += 1
        guard visitedBoxes <= BoxList.maxCount else {
          throw .damaged(finding: "it has more than \(BoxList.maxCount) boxes", offset: offset)
        }
        return ask(.header, at: offset, count: 16)
      }
      limits.removeLast()
      offset = limit
    }
    request = nil
    position = offset
    structure = try completeStructure()
  }

  private mutating func skip(_ box: BoxHeader) throws(ContainerRefusal) {
    offset = box.end
    try visitNext()
  }

  private mutating func enter(_ box: BoxHeader) throws(ContainerRefusal) {
    limits.append(box.end)
    offset = box.content
    try visitNext()
  }

  private mutating func visitBox(_ bytes: ArraySlice<UInt8>) throws(ContainerRefusal) {
    position = offset
    let limit = limits[limits.count - 1]
    let box: BoxHeader
    do throws(BoxHeader.HeaderError) {
      box = try BoxHeader(bytes, at: offset, limit: limit)
    } catch {
      let trailer = BoxHeader(trailer: bytes, at: offset, limit: limit)
      if isTrailer(trailer.type) { return try visitOutermost(trailer) }
      switch error {
      case .endsInside: throw .truncated(finding: "it ends inside the header of a box", offset: offset)
      case .impossibleSize(let size):
        throw .damaged(finding: "the size of a box is \(size) bytes, less than its header", offset: offset)
      }
    }
    guard box.end <= limit else {
      guard isTrailer(box.type) else { throw exceeding(box, limit: limit) }
      return try visitOutermost(BoxHeader(trailer: bytes, at: offset, limit: limit))
    }
    if limits.count == 1 { try visitOutermost(box) } else { try visitMovie(box, depth: limits.count - 1) }
  }

  /// Whether an outermost box that does not fit into the file is none, but what a phone or a program has added to a complete file.
  private func isTrailer(_ type: BoxType) -> Bool {
    limits.count == 1 && isComplete(atDepth: 0) && !Self.outermostTypes.contains(type)
  }

  // Those of ISO/IEC 14496-12: one that exceeds the file is cut.
  private static let outermostTypes: Set<BoxType> = Set(FileSignature.firstBoxes).union([
    "mfra", "meta", "meco", "udta", "pdin", "ssix", "prft", "emsg", "imda", "idat",
  ])

  private func exceeding(_ box: BoxHeader, limit: Int64) -> ContainerRefusal {
    let length = box.end == .max ? "more than 2^62 bytes" : "\(box.end - box.offset) bytes"
    let finding = "the size of the box '\(box.type)' is \(length)"
    // The size may have become known inside of the box.
    guard limits.count == 1 || lastOutermost == box else {
      return .damaged(finding: "\(finding), which exceeds its parent", offset: box.offset)
    }
    return .truncated(
      finding: "\(finding), but the file ends after \(limit - box.offset) bytes of it", offset: box.offset)
  }

  private mutating func visitOutermost(_ box: BoxHeader) throws(ContainerRefusal) {
    lastOutermost = box
    outermost.append(box.type)
    switch box.type {
    case "ftyp" where majorBrand == nil: return ask(.content(box), at: box.content, count: 4)
    // FFmpeg takes such a box for `moov` if it begins with the header of a movie.
    case "free": return ask(.content(box), at: box.content, count: Int(min(box.end - box.content, 8)))
    case "moov" where movie == nil:
      movie = box
      return try enter(box)
    case "ftyp", "moov": break
    case "mdat": mediaDataOffset = mediaDataOffset ?? box.offset
    case "moof": isFragmented = true
    default:
      if !FileSignature.firstBoxes.contains(box.type) { hidesNoMovie = false }
      if readsMetadata, identifying.count < MovieMetadata.maxIdentifying {
        if box.type == "uuid" {
          return ask(.content(box), at: box.content, count: Int(min(box.end - box.content, Self.maxContent)))
        }
        if let identification = IdentifyingMetadata.outermost(box.type) { identifying.append(identification) }
      }
    }
    try skipOutermost(box)
  }

  private mutating func skipOutermost(_ box: BoxHeader) throws(ContainerRefusal) {
    // Behind the last box of the file there is no room for another.
    if movie == nil, let size, box.end == size { throw Self.missingMovie(size) }
    try skip(box)
  }

  /// Visits the paths to each track's handler, edits and tables: `moov` / `trak` / `mdia` / `minf` / `stbl`. No other
  /// box is entered, so that the depth is bounded.
  private mutating func visitMovie(_ box: BoxHeader, depth: Int) throws(ContainerRefusal) {
    switch (box.type, depth) {
    case ("trak", 1), ("mdia", 2), ("edts", 2), ("minf", 3), ("stbl", 4): try enter(box)
    case ("elst", 3), (_, 5):
      ask(.content(box), at: box.content, count: Int(min(box.end - box.content, Int64(TrackTable.headerBytes))))
    // Version and flags, a field of QuickTime, and the handler type (ISO/IEC 14496-12, 8.4.3).
    case ("hdlr", 3): ask(.content(box), at: box.content, count: 12)
    default:
      if box.type == "mvex", depth == 1 { isFragmented = true }
      try skip(box)
    }
  }

  /// Reads the content of a box, or its beginning.
  private mutating func read(_ content: ArraySlice<UInt8>, of box: BoxHeader) throws(ContainerRefusal) {
    switch box.type {
    case "ftyp" where limits.count == 1:
      guard box.end - box.content >= 8, content.count == 4 else {
        throw .damaged(finding: "the box 'ftyp' has no brand", offset: box.offset)
      }
      let major = BoxType(code: content.reduce(0) { $0 << 8 | UInt32($1) })
      let signature = FileSignature(brand: major)
      if signature.kind == .image { throw .unsupported(signature) }
      majorBrand = major
    case "uuid" where limits.count == 1: identifying.append(.named(content))
    case "free" where limits.count == 1:
      if (["mvhd", "cmov"] as [BoxType]).contains(where: { content.dropFirst(4).elementsEqual($0.bytes) }) {
        hidesNoMovie = false
      }
    case "hdlr" where limits.count == 4:
      guard box.end - box.content >= 12, content.count == 12 else {
        throw .damaged(finding: "the box 'hdlr' has no handler type", offset: box.offset)
      }
      handlers.append(BoxType(code: content.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }))
    default:
      try judge(box, content, fileBytes: self.size ?? .max)
      guard self.size == nil, unjudgedTable == nil else { return }
      do throws(ContainerRefusal) { try judge(box, content, fileBytes: 0) } catch {
        unjudgedTable = (box, Array(content))
      }
    }
  }

  /// Judges a table by its first bytes.
  private func judge(
    _ table: BoxHeader, _ start: ArraySlice<UInt8>, fileBytes: Int64
  ) throws(ContainerRefusal) {
    let size = table.end - table.content
    let finding = TrackTable.finding(in: table.type, start: start, size: size, fileBytes: fileBytes)
    if let finding { throw .damaged(finding: finding, offset: table.offset) }
  }

  /// Whether trailing bytes, too few for a box, are allowed: phones write some at the end of complete files, and
  /// QuickTime ends some lists with 32 zero bits. In an incomplete file they are a truncated header.
  private func isComplete(atDepth depth: Int) -> Bool {
    depth > 0 || (movie != nil && mediaDataOffset != nil && !isFragmented)
  }

  private static func missingMovie(_ size: Int64) -> ContainerRefusal {
    .truncated(finding: "it has no 'moov' box, which describes its tracks", offset: size)
  }

  private func completeStructure() throws(ContainerRefusal) -> ContainerStructure {
    guard let movie else { throw Self.missingMovie(offset) }
    guard let mediaDataOffset else {
      throw .truncated(finding: "it has no 'mdat' box, which holds its frames", offset: offset)
    }
    guard handlers.contains("vide") else { throw .noVideoTrack(handlers: handlers) }
    return ContainerStructure(
      family: family ?? .mov, majorBrand: majorBrand, movieOffset: movie.offset,
      movieContent: movie.content..<movie.end, mediaDataOffset: mediaDataOffset, isFragmented: isFragmented,
      outermost: outermost, identifying: identifying, handlers: handlers)
  }
}
