import Model
import Platform
import Store

@testable import HTTPServer
@testable import Kit
@testable import Rooms

extension FuzzTarget {
  static let requests = [request, query, fields, multipart]

  /// What a parser made of a stream of bytes.
  private struct Outcome: Equatable {
    var heads: [RequestHead] = []
    var bodies: [[UInt8]] = []
    var ends = 0
    var isRefused = false
  }

  private static func read(_ pieces: [[UInt8]]) -> Outcome {
    var outcome = Outcome()
    var reader = RequestReader(limits: HeadParser.Limits(requestLine: 512, head: 2048, fields: 16))
    do throws(Problem) {
      for piece in pieces {
        piece.withUnsafeBytes { reader.append($0) }
        while let event = try reader.next() {
          switch event {
          case .head(let head):
            outcome.heads.append(head)
            outcome.bodies.append([])
          case .body(let bytes): outcome.bodies[outcome.bodies.count - 1] += bytes
          case .end: outcome.ends += 1
          }
        }
      }
    } catch {
      outcome.isRefused = true
    }
    return outcome
  }

  /// The bytes of a connection: pieces of any length give the same requests as all of them at once.
  private static let request = FuzzTarget("request") { bytes in
    let whole = read([bytes])
    expect(read(bytes.pieces) == whole, "other requests from pieces")
    for head in whole.heads { use(head) }
  }

  private static let router = Router(
    routes: [("GET", "/v1/posts/{id}"), ("POST", "/v1/posts"), ("GET", "/v1/media/{id}"), ("GET", "/v1/{x}/{y}")].map {
      Route($0.0, $0.1, admission: Route.open) { _ in Response(.ok) }
    })
  private static let now = 1_790_000_000
  private static let tokens = UserTokenCache { _ in nil }
  private static let access = AccessControl(
    operatorKey: "key", isLoopback: true, limits: RateLimits(RateLimits.Configuration()) { 0 }, tokens: tokens,
    now: { now })
  private static let openAccess = AccessControl(
    operatorKey: nil, isLoopback: true, limits: RateLimits(RateLimits.Configuration()) { 0 }, tokens: tokens,
    now: { now })
  private static let urls = MediaURLs(
    keys: [SigningKey(id: 1, secret: [1, 2, 3])], reader: MediaURLs.Reader(name: "operator", keyHash: "00"), now: now)
  private static let representation = Representation(length: 1000, entityTag: EntityTag(strong: "a"), headers: [:])

  /// Everything that reads the head of a request before its handler.
  private static func use(_ head: RequestHead) {
    _ = (head.host, head.endsConnection, head.expectsContinue, head.contentLength)
    guard let client = IPAddress("192.0.2.1") else { return }
    _ = try? router.match(head, from: client)
    for access in [access, openAccess] {
      _ = try? access.admit(head, from: client, to: .key([.read]))
      _ = try? access.admit(head, from: client, to: .media([.read]))
      _ = access.secondsLeft(of: head.target)
    }
    expect(urls.verify(head.target) != .valid(secondsLeft: -1), "an impossible validity")
    _ = head.target.queryValue("reader").map { PublicID($0) }
    if case .part(let range) = representation.selection(method: head.method, headers: head.headers) {
      expect(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= 1000, "an impossible range")
    }
    for address in head.headers.list("X-Forwarded-For") { _ = IPAddress(forwarded: address) }
    _ = Wait(preferredBy: head.headers)
    _ = head.headers["Content-Type"].flatMap(HeaderParameters.init)
    _ = head.headers[RequestID.headerName].flatMap(RequestID.init)
  }

  /// The query of a list, read by every type of a parameter.
  private static let query = FuzzTarget("query") { bytes in
    guard let target = RequestTarget("/v1/posts?" + bytes.text) else { return }
    var reader = QueryReader(target)
    _ = (reader.texts("author"), reader.text("place"), reader.choice("kind", of: PostKind.self))
    _ = (reader.choices("visibility", of: Visibility.self), reader.ids("ids"), reader.id("before", "a UUID"))
    for time in [reader.time("from"), reader.time("to")].compactMap(\.self) {
      expect(abs(time) < 1 << 60, "a time that the database does not have")
    }
    for piece in reader.box("box")?.pieces ?? [] { _ = piece.cells(limit: 1000) }
    let page = reader.page()
    expect(1...100 ~= page.limit, "a page of an impossible size")
    expect(page.after.map { PageCursor($0.text) == $0 } ?? true, "a cursor that cannot be read again")
    try reader.finish()
  }

  /// The value of one header field, or of one text of a request, by every parser of such values.
  private static let fields = FuzzTarget("fields") { bytes in
    let text = bytes.text
    _ = (HeaderParameters(text), EntityTag(text), AddressRange(text))
    if let address = IPAddress(text) {
      expect(IPAddress(address.description) == address, "an address that cannot be read again")
    }
    for length in [0, 1, 1000, Int64.max] {
      guard let range = ByteRange(field: text)?.resolve(length: length) else { continue }
      expect(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length, "an impossible range")
    }
    if let id = PublicID(text) { expect(PublicID(id.description) == id, "an id that cannot be read again") }
    if let position = EventPosition(text) {
      expect(EventPosition(position.description) == position, "a position that cannot be read again")
    }
    if let date = JSON.date(from: text) { _ = JSON.text(of: date) }
    var headers: HeaderFields = [:]
    for name in ["Range", "If-None-Match", "If-Match", "If-Range", "Prefer"] { headers[name] = text }
    _ = (representation.selection(method: "GET", headers: headers), Wait(preferredBy: headers))
  }

  private static func parse(_ pieces: [[UInt8]], _ boundary: String) throws(MultipartError) -> [MultipartParser.Event] {
    var parser = try MultipartParser(
      contentType: "multipart/form-data; boundary=\(boundary)",
      limits: MultipartLimits(parts: 4, headerBytes: 200, partBytes: 200))
    var events: [MultipartParser.Event] = []
    for piece in pieces {
      parser.feed(piece)
      while let event = try parser.next() {
        // Pieces divide the bytes of a part elsewhere.
        if case .bytes(let more) = event, case .bytes(let bytes)? = events.last {
          events[events.count - 1] = .bytes(ArraySlice(Array(bytes) + more))
        } else if case .bytes(let bytes) = event {
          events.append(.bytes(ArraySlice(Array(bytes))))
        } else {
          events.append(event)
        }
      }
    }
    try parser.finish()
    return events
  }

  /// A form, with its boundary in front of the first NUL: pieces of any length give the same parts as all at once.
  private static let multipart = FuzzTarget("multipart") { bytes in
    let (boundary, body) = bytes.halves
    let whole = Result { () throws(MultipartError) in try parse([body], boundary.text) }
    let pieces = Result { () throws(MultipartError) in try parse(body.pieces, boundary.text) }
    switch (whole, pieces) {
    case (.success(let whole), .success(let pieces)): expect(whole == pieces, "other parts from pieces")
    case (.failure, .failure): break
    default: expect(false, "only one of both is refused")
    }
  }
}
