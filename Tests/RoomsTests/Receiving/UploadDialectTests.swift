import FoundationEssentials
import Model
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

@Suite("Dialects of uploads")
struct UploadDialectTests {
  private static func head(_ method: String, _ fields: [(String, String)]) throws -> RequestHead {
    var headers = HeaderFields()
    for (name, value) in fields { headers.append(name, value) }
    let length = headers["Content-Length"].flatMap { Int64($0) }
    return RequestHead(
      method: method, target: try #require(RequestTarget("/v1/uploads")), version: .http11, headers: headers,
      framing: length.map { .length($0) } ?? .none)
  }

  private static func creation(_ fields: (String, String)...) throws -> UploadDialect.Creation {
    let head = try head("POST", fields)
    return try UploadDialect(head.headers).creation(head)
  }

  private static func appending(_ fields: (String, String)...) throws -> UploadDialect.Appending {
    let head = try head("PATCH", fields)
    return try UploadDialect(head.headers).appending(head)
  }

  private static let tus = ("Tus-Resumable", "1.0.0")
  private static let interop = ("Upload-Draft-Interop-Version", "3")

  @Test("a request names its dialect")
  func names() {
    #expect(UploadDialect(["Tus-Resumable": "1.0.0"]) == .tus)
    #expect(UploadDialect(["Upload-Draft-Interop-Version": "3"]) == .draft01)
    #expect(UploadDialect(["Upload-Draft-Interop-Version": "8"]) == .draft)
    #expect(UploadDialect([:]) == .draft)
  }

  @Test("another version of tus is refused with the supported one")
  func versions() throws {
    let head = try Self.head("POST", [("Tus-Resumable", "0.2.2"), ("Upload-Length", "5")])
    let refusal = try #require(throws: Problem.self) { try UploadDialect(head.headers).check(head) }
    #expect(refusal.status.code == 412 && refusal.headers["Tus-Version"] == "1.0.0")
  }

  @Test("a creation says the length, and whether bytes come with it")
  func creation() throws {
    let empty = try Self.creation(Self.tus, ("Upload-Length", "5"), ("Content-Length", "0"))
    #expect(empty == .init(length: 5, hasContent: false, isComplete: false, metadata: nil))
    let first = try Self.creation(
      Self.tus, ("Upload-Length", "5"), ("Content-Length", "3"), ("Content-Type", "application/offset+octet-stream"))
    #expect(first.hasContent)
    let whole = try Self.creation(("Upload-Complete", "?1"), ("Content-Length", "3"))
    #expect(whole == .init(length: 3, hasContent: true, isComplete: true, metadata: nil))
    let partial = try Self.creation(Self.interop, ("Upload-Incomplete", "?1"), ("Content-Length", "3"))
    #expect(partial == .init(length: nil, hasContent: true, isComplete: false, metadata: nil))
    // A number that no file has is over every limit.
    let huge = try Self.creation(Self.tus, ("Upload-Length", "99999999999999999999"), ("Content-Length", "0"))
    #expect(huge.length == .max)
    for fields in [
      [Self.tus], [Self.tus, ("Upload-Length", "-1")], [Self.tus, ("Upload-Length", "")],
      [Self.tus, ("Upload-Length", "5"), ("Upload-Length", "6")], [],
      [("Upload-Complete", "1")], [Self.interop, ("Upload-Complete", "?1")],
    ] {
      let head = try Self.head("POST", fields)
      let refusal = try #require(throws: Problem.self) { _ = try UploadDialect(head.headers).creation(head) }
      #expect(refusal.status.code == 400, "\(fields)")
    }
    let other = try #require(throws: Problem.self) {
      _ = try Self.creation(Self.tus, ("Upload-Length", "5"), ("Content-Length", "3"), ("Content-Type", "video/mp4"))
    }
    #expect(other.status.code == 415)
  }

  @Test(
    "metadata are pairs of a key and Base64, and are kept as they came",
    arguments: [
      ("filename ZnJvbnQubXA0", "filename ZnJvbnQubXA0"), ("a YQ==,b,c ", "a YQ==,b,c "), ("", nil),
      ("a YQ==, b Yg==", "a YQ==, b Yg=="), ("a YQ==\nb Yg==", "a YQ==,b Yg=="),
    ] as [(String, String?)])
  func metadata(text: String, kept: String?) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { ("Upload-Metadata", String($0)) }
    let head = try Self.head("POST", [Self.tus, ("Upload-Length", "5"), ("Content-Length", "0")] + lines)
    #expect(try UploadDialect.tus.creation(head).metadata == kept)
  }

  @Test(
    "metadata of another form are refused: they are sent back",
    arguments: [
      "a YQ==,a Yg==", "a b c", "a YQ", "a !", ",", "a YQ==,", "\u{E9} YQ==", String(repeating: "a", count: 4097),
    ])
  func wrongMetadata(text: String) throws {
    let refusal = try #require(throws: Problem.self) {
      _ = try Self.creation(Self.tus, ("Upload-Length", "5"), ("Content-Length", "0"), ("Upload-Metadata", text))
    }
    #expect(refusal.status.code == 400 && refusal.detail.contains("Upload-Metadata"))
  }

  @Test(
    "a field of the drafts that is not an item of its type is ignored, and parameters are skipped",
    arguments: [
      ("5", 5), (" 5 ", 5), ("5;a", 5), ("0", 0), ("-0", 0),
      ("5; a=1;b=?0;c=\"x\\\"\";d=tok/en;e=:YQ==:;f=1.5;*g=@1", 5),
      ("999999999999999", 999_999_999_999_999), ("1000000000000000", nil), ("1.5", nil), ("-1", nil), ("+1", nil),
      ("\"5\"", nil), ("5,6", nil), ("5 6", nil), ("5;", nil), ("5;A=1", nil), ("5;a=", nil), ("?1", nil), ("", nil),
      ("five", nil), (":NQ==:", nil), ("0x5", nil),
    ] as [(String, Int64?)])
  func items(text: String, length: Int64?) throws {
    let complete = ("Upload-Complete", "?0;a")
    #expect(try Self.creation(complete, ("Upload-Length", text), ("Content-Length", "0")).length == length)
    let twice = try Self.creation(complete, ("Upload-Length", text), ("Upload-Length", text), ("Content-Length", "0"))
    #expect(twice.length == nil)
    let head = try Self.head(
      "PATCH", [("Upload-Offset", text), complete, ("Content-Type", "application/partial-upload")])
    #expect((try? UploadDialect.draft.appending(head))?.offset == length)
  }

  @Test(
    "a version of the drafts is an integer",
    arguments: [("3", UploadDialect.draft01), ("3;a=1", .draft01), ("\"3\"", .draft), ("8", .draft), ("03", .draft01)])
  func versionItems(text: String, dialect: UploadDialect) {
    #expect(UploadDialect(["Upload-Draft-Interop-Version": text]) == dialect)
  }

  @Test("an append says where, and in the drafts whether it is the last")
  func appending() throws {
    let tus = try Self.appending(
      Self.tus, ("Upload-Offset", "3"), ("Content-Type", "Application/offset+octet-stream; charset=utf-8"))
    #expect(tus == .init(offset: 3, length: nil, isComplete: false))
    let general = ("Content-Type", "application/octet-stream")
    #expect(try Self.appending(Self.tus, ("Upload-Offset", "3"), general) == tus)
    let last = try Self.appending(
      ("Upload-Offset", "3"), ("Upload-Complete", "?1"), ("Content-Type", "application/partial-upload;x=1"),
      ("Content-Length", "2"))
    #expect(last == .init(offset: 3, length: 5, isComplete: true))
    // In the draft of iOS 17 a request without the field is the last.
    #expect(try Self.appending(Self.interop, ("Upload-Offset", "3"), ("Content-Length", "2")).isComplete)
    for (fields, status) in [
      ([Self.tus, ("Upload-Offset", "3")], 415),
      ([Self.tus, ("Content-Type", "application/offset+octet-stream")], 400),
      ([("Upload-Offset", "3"), ("Upload-Complete", "?1")], 415),
      ([("Upload-Offset", "3"), ("Upload-Complete", "?1"), general], 415),
      ([Self.tus, ("Upload-Offset", "3"), ("Content-Type", "application/json")], 415),
      ([("Upload-Offset", "3"), ("Content-Type", "application/partial-upload")], 400),
    ] {
      let head = try Self.head("PATCH", fields)
      let refusal = try #require(throws: Problem.self) { _ = try UploadDialect(head.headers).appending(head) }
      #expect(refusal.status.code == status, "\(fields)")
    }
  }

  @Test(
    "a length that contradicts the body or the offset is refused",
    arguments: [("?1", "6", "2"), ("?1", "4", "2"), ("?0", "4", "2"), ("?1", "999999999999999", "2"), ("?0", "2", "0")])
  func lengths(complete: String, length: String, content: String) throws {
    let refusal = try #require(throws: Problem.self) {
      _ = try Self.appending(
        ("Upload-Offset", "3"), ("Upload-Complete", complete), ("Content-Type", "application/partial-upload"),
        ("Upload-Length", length), ("Content-Length", content))
    }
    #expect(refusal.status.code == 400)
    #expect(refusal.type == ProblemKind.uploadLength.type)
  }

  @Test("a part that a client wants to have checked by tus is refused: the service would not check it")
  func checksums() throws {
    let refusal = #expect(throws: Problem.self) {
      _ = try UploadDialect.tus.appending(
        Self.head(
          "PATCH",
          [
            ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", "0"), ("Content-Length", "5"),
            ("Upload-Checksum", "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0="),
          ]))
    }
    #expect(refusal?.status.code == 400)
  }

  @Test("the location is absolute if the scheme is known")
  func locations() throws {
    let (id, host) = (PublicID.now(), ("Host", "api.example.org"))
    func location(_ fields: (String, String)..., at url: PublicURL? = nil) throws -> String {
      UploadRoutes.location(of: id, for: try Self.head("POST", fields), at: url)
    }
    #expect(try location(host) == "http://api.example.org/v1/uploads/\(id)")
    let forwarded = ("X-Forwarded-For", "192.0.2.1")
    #expect(try location(host, forwarded) == "/v1/uploads/\(id)")
    #expect(try location(host, forwarded, ("X-Forwarded-Proto", "https")) == "https://api.example.org/v1/uploads/\(id)")
    #expect(try location(host, ("X-Forwarded-Proto", "javascript")) == "/v1/uploads/\(id)")
    #expect(try location() == "/v1/uploads/\(id)")
    let url = try #require(PublicURL("https://app.example.org/api/"))
    #expect(try location(host, forwarded, at: url) == "https://app.example.org/api/v1/uploads/\(id)")
  }

  @Test("problems of the drafts have the registered types, and problems of tus the service's")
  func types() {
    for (kind, type) in [
      (ProblemKind.uploadOffset, "mismatching-upload-offset"), (.uploadLength, "inconsistent-upload-length"),
      (.digestMismatch, "digest-mismatching-values"), (.uploadWhole, nil),
    ] {
      func found(_ dialect: UploadDialect) -> String {
        dialect.completing(kind.problem("x"), nil, offset: nil, expiresAt: nil, isFinal: false, limit: nil).type
      }
      let registered = type.map { "https://iana.org/assignments/http-problem-types#\($0)" }
      #expect(found(.draft) == registered ?? kind.type)
      #expect(found(.draft01) == registered ?? kind.type)
      #expect(found(.tus) == kind.type)
    }
  }
}
