import FoundationEssentials
import HTTPServer
import Model
import Testing

@testable import ControlAPI
@testable import HTTPServer

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
    let refusal = try #require(throws: Problem.self) {
      _ = try Self.creation(("Tus-Resumable", "0.2.2"), ("Upload-Length", "5"))
    }
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
    for fields in [
      [Self.tus], [Self.tus, ("Upload-Length", "-1")], [Self.tus, ("Upload-Length", "1234567890123456789")],
      [Self.tus, ("Upload-Length", "5"), ("Upload-Metadata", String(repeating: "a", count: 4097))], [],
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

  @Test("an append says where, and in the drafts whether it is the last")
  func appending() throws {
    let tus = try Self.appending(Self.tus, ("Upload-Offset", "3"), ("Content-Type", "application/offset+octet-stream"))
    #expect(tus == .init(offset: 3, length: nil, isComplete: false))
    let last = try Self.appending(
      ("Upload-Offset", "3"), ("Upload-Complete", "?1"), ("Content-Type", "application/partial-upload"),
      ("Content-Length", "2"))
    #expect(last == .init(offset: 3, length: 5, isComplete: true))
    // In the draft of iOS 17 a request without the field is the last.
    #expect(try Self.appending(Self.interop, ("Upload-Offset", "3"), ("Content-Length", "2")).isComplete)
    for (fields, status) in [
      ([Self.tus, ("Upload-Offset", "3")], 415),
      ([Self.tus, ("Content-Type", "application/offset+octet-stream")], 400),
      ([("Upload-Offset", "3"), ("Upload-Complete", "?1")], 415),
      ([("Upload-Offset", "3"), ("Content-Type", "application/partial-upload")], 400),
    ] {
      let head = try Self.head("PATCH", fields)
      let refusal = try #require(throws: Problem.self) { _ = try UploadDialect(head.headers).appending(head) }
      #expect(refusal.status.code == status, "\(fields)")
    }
  }

  @Test(
    "a length that contradicts the body is refused with the type of the draft",
    arguments: [("?1", "6", "2"), ("?1", "4", "2"), ("?0", "4", "2"), ("?1", "999999999999999999", "2")])
  func lengths(complete: String, length: String, content: String) throws {
    let refusal = try #require(throws: Problem.self) {
      _ = try Self.appending(
        ("Upload-Offset", "3"), ("Upload-Complete", complete), ("Content-Type", "application/partial-upload"),
        ("Upload-Length", length), ("Content-Length", content))
    }
    #expect(refusal.status.code == 400)
    #expect(refusal.type == "https://iana.org/assignments/http-problem-types#inconsistent-upload-length")
  }

  @Test("the location is absolute if the scheme is known")
  func locations() throws {
    let (id, host) = (PublicID.now(), ("Host", "api.example.org"))
    func location(_ fields: (String, String)...) throws -> String {
      ControlAPI.location(of: id, for: try Self.head("POST", fields))
    }
    #expect(try location(host) == "http://api.example.org/v1/uploads/\(id)")
    let forwarded = ("X-Forwarded-For", "192.0.2.1")
    #expect(try location(host, forwarded) == "/v1/uploads/\(id)")
    #expect(try location(host, forwarded, ("X-Forwarded-Proto", "https")) == "https://api.example.org/v1/uploads/\(id)")
    #expect(try location(host, ("X-Forwarded-Proto", "javascript")) == "/v1/uploads/\(id)")
    #expect(try location() == "/v1/uploads/\(id)")
  }

  @Test("problems of the draft have its types, and those of tus the service's")
  func types() {
    let whole = ProblemKind.uploadWhole.problem("The upload is whole.")
    #expect(
      UploadDialect.draft.type(of: whole).type == "https://iana.org/assignments/http-problem-types#completed-upload")
    #expect(UploadDialect.tus.type(of: whole).type == "urn:take5:problem:upload_whole")
    #expect(UploadDialect.draft01.type(of: whole).type == "urn:take5:problem:upload_whole")
  }
}
