import HTTPTesting

@testable import Rooms

/// The requests of each protocol, as its clients send them.
extension UploadDialect {
  /// The fields that name the protocol. The current draft needs none, and its clients name the version that they speak.
  var named: [(String, String)] {
    switch self {
    case .tus: [("Tus-Resumable", "1.0.0")]
    case .draft01: [("Upload-Draft-Interop-Version", "3")]
    case .draft: [("Upload-Draft-Interop-Version", "9")]
    }
  }

  /// The field of a request that says whether its body is the last.
  func completeness(_ isLast: Bool) -> [(String, String)] {
    switch self {
    case .tus: []
    case .draft01: [("Upload-Incomplete", isLast ? "?0" : "?1")]
    case .draft: [("Upload-Complete", isLast ? "?1" : "?0")]
    }
  }

  /// The fields of bytes that are sent at an offset.
  func part(at offset: Int, isLast: Bool) -> [(String, String)] {
    let type = [.tus: [("Content-Type", Self.tusContent)], .draft: [("Content-Type", Self.draftContent)]][self] ?? []
    return named + completeness(isLast) + type + [("Upload-Offset", "\(offset)")]
  }

  /// Creates an upload without bytes; returns its path.
  func create(_ length: Int?, _ api: RunningAPI) async throws -> String {
    let length = length.map { [("Upload-Length", "\($0)")] } ?? []
    return try UploadTests.path(
      try await request(
        "POST", "/v1/uploads", port: api.port, headers: named + completeness(false) + length, body: []))
  }

  func send(
    _ text: String, at offset: Int, to path: String, isLast: Bool, with more: [(String, String)] = [], _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await request(
      "PATCH", path, port: api.port, headers: part(at: offset, isLast: isLast) + more, body: Array(text.utf8))
  }

  /// Sends a request whose body has one chunk (RFC 9112, section 7.1).
  func sendChunked(
    _ method: String, _ path: String, _ headers: [(String, String)], _ text: String, _ api: RunningAPI
  ) async throws -> ClientResponse {
    let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
    let chunk = text.isEmpty ? "" : "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n"
    return try await exchange(
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)Transfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n",
      port: api.port)
  }

  func head(_ path: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await request("HEAD", path, port: api.port, headers: named)
  }
}
