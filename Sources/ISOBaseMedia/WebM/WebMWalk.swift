import Model

/// One pass over the elements of a WebM (RFC 8794; RFC 9559; webmproject.org, "WebM Container Guidelines").
///
/// As `ContainerWalk`, it asks for the bytes that it needs in the order of the file, and holds none. It visits each element down to
/// the blocks, whose sizes recorders may leave open, and reads the content of the headers, the tracks and the tags.
package struct WebMWalk: Sendable {
  package typealias Request = ContainerWalk.Request

  /// What the requested bytes are.
  private enum Step {
    case header
    case content(ElementHeader)
  }

  // Each frame and each packet of sound is an element: half an hour at 60 and 50 per second.
  private static let maxElements = 1 << 18
  // The bytes of an element other than a cluster; the walk reads the tracks, the tags and the header.
  private static let maxContent: Int64 = 1 << 18
  // A header has about forty bytes.
  private static let maxHeader: Int64 = 256
  // The longest header, and the time of a cluster, or track, time and flags of a block.
  private static let visitedBytes = ElementHeader.maxBytes + 12
  // In ticks: sums of such times do not overflow.
  private static let maxTime: UInt64 = 1 << 60

  /// Nil at the end of the pass.
  package private(set) var request: Request?
  /// The start of the element that is visited; at the end of the pass, the end of the file.
  package private(set) var position: Int64 = 0
  /// The tracks; nil before they are read.
  package private(set) var tracks: [WebMTrack]?
  /// The structure of the file; nil before the end of the pass.
  package private(set) var structure: WebMStructure?

  private var size: Int64?
  private var step = Step.header
  /// The elements that were entered, the outermost first.
  private var parents: [ElementHeader] = []
  /// The last element that was visited.
  private var last: ElementHeader?
  private var visited = 0
  private var hasHeader = false
  private var hasSegment = false
  private var hasBlocks = false
  private var clusterTime: Int64?
  private var metadata = WebMMetadata()
  /// The times of the first and the last frame of each video track, in ticks.
  private var spans: [UInt64: (first: Int64, last: Int64)] = [:]

  /// - Parameter size: the length of the file in bytes; nil if it is not known yet.
  package init(size: Int64?) {
    self.size = size
    ask(.header, at: 0, count: Self.visitedBytes)
  }

  /// The shortest time between the first and the last frame of a video track so far, in seconds.
  package var minSeconds: Double {
    let videos = (tracks ?? []).filter { $0.size != nil }
    let ticks = videos.map { track in spans[track.number].map { $0.last - $0.first } ?? 0 }.min() ?? 0
    return Double(ticks) * Double(metadata.timestampScale) / 1e9
  }

  /// Takes the requested bytes; fewer only at the end of the file.
  package mutating func take(_ bytes: ArraySlice<UInt8>) throws(ContainerRefusal) {
    switch step {
    case .header: try visit(bytes)
    case .content(let element):
      try read(bytes, of: element)
      try visitNext(behind: element)
    }
  }

  /// Sets the length of a file, once all of it has arrived, if it was not known before.
  package mutating func end(at size: Int64) throws(ContainerRefusal) {
    guard self.size == nil else { return }
    self.size = size
    for element in parents + [last].compactMap(\.self) { try check(element, fits: size) }
    if case .header = step, let request {
      visited -= 1
      try visitNext(at: request.offset)
    }
  }

  private mutating func ask(_ step: Step, at offset: Int64, count: Int) {
    self.step = step
    request = Request(
      offset: offset, count: size.map { Int(clamping: min(Int64(count), max(0, $0 - offset))) } ?? count)
  }

  // MARK: - The order of elements

  /// Asks for the next header, in the innermost element that has one, or ends the pass.
  private mutating func visitNext(at offset: Int64) throws(ContainerRefusal) {
    while let end = innermostEnd, offset >= end {
      while let parent = parents.popLast(), parent.end == nil {}
    }
    if let size, offset >= size {
      request = nil
      position = offset
      structure = try completeStructure(at: offset)
      return
    }
    visited += 1
    guard visited <= Self.maxElements else {
      throw .damaged(finding: "it has more than \(Self.maxElements) elements", offset: offset)
    }
    ask(.header, at: offset, count: Self.visitedBytes)
  }

  private mutating func visitNext(behind element: ElementHeader) throws(ContainerRefusal) {
    guard let end = element.end else {
      throw .damaged(finding: "the size of the element '\(element.id)' is unknown", offset: element.offset)
    }
    try visitNext(at: end)
  }

  private mutating func enter(_ element: ElementHeader) throws(ContainerRefusal) {
    parents.append(element)
    try visitNext(at: element.content)
  }

  private var innermostEnd: Int64? { parents.last { $0.end != nil }?.end }

  private mutating func visit(_ bytes: ArraySlice<UInt8>) throws(ContainerRefusal) {
    let offset = request?.offset ?? 0
    position = offset
    let element: ElementHeader
    do throws(ElementHeader.HeaderError) { element = try ElementHeader(bytes, at: offset) } catch {
      switch error {
      case .endsInside: throw .truncated(finding: "it ends inside the header of an element", offset: offset)
      case .invalid: throw .damaged(finding: "it has bytes that are no element", offset: offset)
      }
    }
    if let parent = innermostEnd, element.end ?? 0 > parent {
      throw .damaged(finding: "the element '\(element.id)' exceeds its parent", offset: offset)
    }
    if let size { try check(element, fits: size) }
    last = element
    if parents.last?.id == .cluster, parents.last?.end == nil, ElementID.partsOfSegment.contains(element.id) {
      parents.removeLast()
    }
    let content = bytes.dropFirst(Int(clamping: element.content - offset))
    switch parents.last?.id {
    case nil: try visitOutermost(element)
    case .segment?: try visitSegment(element)
    case .cluster?: try visitCluster(element, content)
    default:
      if element.id == .block { try readBlock(content, of: element) }
      try visitNext(behind: element)
    }
  }

  private func check(_ element: ElementHeader, fits size: Int64) throws(ContainerRefusal) {
    guard let end = element.end, end > size else { return }
    throw .truncated(
      finding: "the element '\(element.id)' has \(end - element.offset) bytes, but the file ends after "
        + "\(size - element.offset) of them", offset: element.offset)
  }

  private mutating func visitOutermost(_ element: ElementHeader) throws(ContainerRefusal) {
    switch element.id {
    case .header where !hasHeader:
      hasHeader = true
      try readContent(of: element, upTo: Self.maxHeader)
    case .segment where hasHeader && !hasSegment:
      hasSegment = true
      try enter(element)
    case .void where hasHeader: try visitNext(behind: element)
    default:
      let finding =
        hasSegment
        ? "bytes follow that are no part of it" : "the element '\(element.id)' stands in front of its segment"
      throw .damaged(finding: finding, offset: element.offset)
    }
  }

  private mutating func visitSegment(_ element: ElementHeader) throws(ContainerRefusal) {
    switch element.id {
    case .cluster:
      guard tracks != nil else {
        throw .damaged(finding: "its frames stand in front of its tracks", offset: element.offset)
      }
      clusterTime = nil
      try enter(element)
    // A demuxer may read the second of two, which may differ.
    case .tracks where tracks != nil, .info where metadata.hasInfo:
      throw .damaged(finding: "it has a second element '\(element.id)'", offset: element.offset)
    case .tracks, .info, .tags: try readContent(of: element, upTo: Self.maxContent)
    case .attachments: throw .unsupported(.matroska)
    case .header, .segment: throw .damaged(finding: "another recording follows", offset: element.offset)
    case .void, .checksum: try visitNext(behind: element)
    default:
      try check(element, upTo: Self.maxContent)
      try visitNext(behind: element)
    }
  }

  private mutating func visitCluster(_ element: ElementHeader, _ content: ArraySlice<UInt8>) throws(ContainerRefusal) {
    guard element.end != nil else { return try visitNext(behind: element) }
    switch element.id {
    case .blockGroup: return try enter(element)
    case .timestamp:
      guard let bytes = element.contentBytes, bytes <= 8, content.count >= bytes else {
        throw .damaged(finding: "the time of a cluster has more than eight bytes", offset: element.offset)
      }
      let time = content.prefix(Int(clamping: bytes)).reduce(0) { $0 << 8 | UInt64($1) }
      guard time <= Self.maxTime else {
        throw .damaged(finding: "the time of a cluster is out of range", offset: element.offset)
      }
      clusterTime = Int64(clamping: time)
    case .simpleBlock: try readBlock(content, of: element)
    case .header, .segment: throw .damaged(finding: "another recording follows", offset: element.offset)
    case _ where ElementID.partsOfSegment.contains(element.id):
      throw .damaged(finding: "the element '\(element.id)' stands in a cluster", offset: element.offset)
    default: break
    }
    try visitNext(behind: element)
  }

  // MARK: - What elements hold

  private func check(_ element: ElementHeader, upTo maxBytes: Int64) throws(ContainerRefusal) {
    guard let bytes = element.contentBytes else {
      throw .damaged(finding: "the size of the element '\(element.id)' is unknown", offset: element.offset)
    }
    guard bytes <= maxBytes else {
      throw .damaged(
        finding: "the element '\(element.id)' has \(bytes) bytes; at most \(maxBytes) are accepted",
        offset: element.offset)
    }
  }

  private mutating func readContent(of element: ElementHeader, upTo maxBytes: Int64) throws(ContainerRefusal) {
    try check(element, upTo: maxBytes)
    ask(.content(element), at: element.content, count: Int(clamping: element.contentBytes ?? 0))
  }

  private mutating func read(_ content: ArraySlice<UInt8>, of element: ElementHeader) throws(ContainerRefusal) {
    let isConsistent: Bool
    switch element.id {
    case .header:
      guard let elements = Element.list(in: content) else {
        isConsistent = false
        break
      }
      guard elements.first(.documentType)?.text(upTo: 16) == "webm" else { throw .unsupported(.matroska) }
      isConsistent = true
    case .info: isConsistent = metadata.readInfo(content)
    case .tags: isConsistent = metadata.readTags(content)
    default:
      tracks = WebMTrack.list(content)
      isConsistent = tracks != nil
      if let tracks, !tracks.contains(where: { $0.size != nil }) {
        throw .noVideoTrack(handlers: tracks.map(\.handler))
      }
    }
    guard isConsistent else {
      throw .damaged(finding: "the element '\(element.id)' is inconsistent", offset: element.offset)
    }
  }

  /// Reads the track and the time in front of the data of a block (RFC 9559, 10).
  private mutating func readBlock(_ content: ArraySlice<UInt8>, of element: ElementHeader) throws(ContainerRefusal) {
    let content = content.prefix(Int(clamping: element.contentBytes ?? 0))
    let number: VariableNumber
    do throws(ElementHeader.HeaderError) { number = try VariableNumber(content, maxLength: 8) } catch {
      throw .damaged(finding: "a block names no track", offset: element.offset)
    }
    let fields = BigEndian(content.dropFirst(number.length))
    guard let delay = fields.unsigned16(at: 0), let flags = fields.byte(at: 2), let clusterTime else {
      throw .damaged(finding: "a block has no time", offset: element.offset)
    }
    hasBlocks = true
    let time = clusterTime + Int64(Int16(bitPattern: delay))
    // A demuxer finds no frame in a block without data, and several in one with lacing.
    let hasFrame = fields.count > 3 && flags & 0x06 == 0 && time >= 0
    guard hasFrame, tracks?.contains(where: { $0.number == number.value && $0.size != nil }) == true else { return }
    let span = spans[number.value] ?? (time, time)
    spans[number.value] = (min(span.first, time), max(span.last, time))
  }

  private func completeStructure(at end: Int64) throws(ContainerRefusal) -> WebMStructure {
    guard let tracks else {
      throw .truncated(finding: "it has no element 'Tracks', which describes its tracks", offset: end)
    }
    guard hasBlocks else { throw .truncated(finding: "it has no block, which holds a frame", offset: end) }
    return WebMStructure(tracks: tracks, recorded: metadata.recorded, identifying: metadata.identifying)
  }
}
