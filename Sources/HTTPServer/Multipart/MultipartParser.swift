import Glibc

/// An incremental parser of multipart bodies (RFC 2046, section 5.1). It stores one chunk and the header of one part.
///
/// Call `feed` with a chunk, then `next` until it returns nil, and `finish` after the last chunk.
package struct MultipartParser: Sendable {
  /// An event of the parser.
  package enum Event: Sendable, Hashable {
    /// A part starts.
    case part(PartHeader)
    /// Bytes of the part.
    case bytes(ArraySlice<UInt8>)
    /// The part is complete.
    case endOfPart
  }

  private enum State { case preamble, delimiter, header, body, epilogue }

  private let limits: MultipartLimits
  /// CR LF `--` boundary. Its only CR is the first byte, so a failed match can restart only at a CR.
  private let delimiter: [UInt8]
  private var state = State.preamble
  private var chunk: ArraySlice<UInt8> = []
  /// The number of bytes of the delimiter that the end of the last chunk matched.
  private var matched = 2
  /// The number of matched bytes that were in no chunk: content starts as if a line break preceded it.
  private var assumed = 2
  private var line: [UInt8] = []
  private var lines: [ArraySlice<UInt8>] = []
  private var headerBytes = 0
  private var partCount = 0
  private var partName = ""
  private var partBytes: Int64 = 0

  /// - Parameter boundary: the parameter of the Content-Type, without the two hyphens.
  package init(boundary: String, limits: MultipartLimits) throws(MultipartError) {
    let isValid = boundary.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F || $0 == 0x20 }
    guard isValid, (1...70).contains(boundary.utf8.count), boundary.utf8.last != 0x20 else { throw .badBoundary }
    delimiter = Array("\r\n--\(boundary)".utf8)
    self.limits = limits
  }

  /// Passes the next chunk; `next` must have returned nil for the previous one.
  package mutating func feed(_ bytes: [UInt8]) {
    precondition(chunk.isEmpty, "the last chunk was not parsed to its end")
    chunk = bytes[...]
  }

  /// The next event; nil if another chunk is needed.
  package mutating func next() throws(MultipartError) -> Event? {
    while true {
      switch state {
      case .preamble:
        while takeData() != nil {}
        guard state == .delimiter else { return nil }
      case .body:
        if let bytes = takeData() {
          partBytes += Int64(bytes.count)
          guard partBytes <= limits.partBytes else {
            throw .partTooLarge(name: partName, limit: limits.partBytes)
          }
          return .bytes(bytes)
        }
        guard state == .delimiter else { return nil }
        return .endOfPart
      case .delimiter:
        if takeClosing() {
          state = .epilogue
          continue
        }
        guard let line = try takeLine() else {
          guard lineLength <= limits.headerBytes else { throw .badDelimiter }
          return nil
        }
        guard line.count <= limits.headerBytes, line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
          throw .badDelimiter
        }
        state = .header
      case .header:
        guard let line = try takeLine() else {
          guard headerBytes + lineLength <= limits.headerBytes else {
            throw .headersTooLong(limit: limits.headerBytes)
          }
          return nil
        }
        headerBytes += line.count
        guard headerBytes <= limits.headerBytes else { throw .headersTooLong(limit: limits.headerBytes) }
        if line.isEmpty { return .part(try beginPart()) }
        lines.append(line[...])
      case .epilogue:
        chunk = []
        return nil
      }
    }
  }

  /// Checks, after the last chunk, that the body is complete.
  package func finish() throws(MultipartError) {
    guard state == .epilogue else { throw .endedEarly }
  }

  /// Returns content up to the next delimiter; nil at the end of the chunk, and at a delimiter, which it consumes and
  /// for which it sets `state`.
  private mutating func takeData() -> ArraySlice<UInt8>? {
    if matched > 0 {
      while matched < delimiter.count, let byte = chunk.first, byte == delimiter[matched] {
        matched += 1
        chunk.removeFirst()
      }
      if matched < delimiter.count && chunk.isEmpty { return nil }
      let isDelimiter = matched == delimiter.count
      let carried = delimiter[assumed..<matched]
      (matched, assumed) = (0, 0)
      if isDelimiter {
        state = .delimiter
        return nil
      }
      if !carried.isEmpty { return carried }
    }
    return takeDataOfChunk()
  }

  private mutating func takeDataOfChunk() -> ArraySlice<UInt8>? {
    let (start, length) = findDelimiter()
    if start > chunk.startIndex {
      let data = chunk[..<start]
      chunk = chunk[start...]
      return data
    }
    if length == delimiter.count {
      chunk = chunk.dropFirst(length)
      state = .delimiter
    } else if length > 0 {
      matched = length
      chunk = []
    }
    return nil
  }

  /// The start of a delimiter and the number of its bytes in the chunk; the end of the chunk and 0 if there is none.
  private func findDelimiter() -> (start: Int, length: Int) {
    let found = chunk.withUnsafeBufferPointer { bytes -> (Int, Int) in
      guard let base = bytes.baseAddress else { return (0, 0) }
      var position = 0
      while let candidate = memchr(base + position, Int32(UInt8(ascii: "\r")), bytes.count - position) {
        let start = UnsafePointer(candidate.assumingMemoryBound(to: UInt8.self)) - base
        var length = 1
        while length < delimiter.count, start + length < bytes.count, bytes[start + length] == delimiter[length] {
          length += 1
        }
        if length == delimiter.count || start + length == bytes.count { return (start, length) }
        position = start + length
      }
      return (bytes.count, 0)
    }
    return (chunk.startIndex + found.0, found.1)
  }

  /// Takes the two hyphens that close the form, whatever follows them in the line; false if they are not there, or not yet.
  private mutating func takeClosing() -> Bool {
    let hyphens = Array("--".utf8)
    while line.count < hyphens.count, hyphens.starts(with: line), chunk.first == hyphens[line.count] {
      line.append(chunk.removeFirst())
    }
    return line == hyphens
  }

  /// The length of an incomplete line; a CR at its end can belong to the line break.
  private var lineLength: Int { line.last == UInt8(ascii: "\r") ? line.count - 1 : line.count }

  /// Returns a line without its line break; nil if the chunk ends first.
  private mutating func takeLine() throws(MultipartError) -> [UInt8]? {
    guard let end = chunk.firstIndex(of: UInt8(ascii: "\n")) else {
      line += chunk
      chunk = []
      return nil
    }
    line += chunk[..<end]
    chunk = chunk[(end + 1)...]
    guard line.popLast() == UInt8(ascii: "\r") else { throw state == .header ? .badHeader : .badDelimiter }
    defer { line = [] }
    return line
  }

  private mutating func beginPart() throws(MultipartError) -> PartHeader {
    partCount += 1
    guard partCount <= limits.parts else { throw .tooManyParts(limit: limits.parts) }
    let header = try PartHeader(lines: lines)
    partName = header.name
    (lines, headerBytes, partBytes) = ([], 0, 0)
    (matched, assumed) = (2, 2)
    state = .body
    return header
  }
}
