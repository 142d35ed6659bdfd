import HTTPServer
import Platform

/// Uploads in parts.
extension MemoryBucket {
  /// Responds to a request that concerns an upload; nil for another one.
  func respond(toUploadIn request: Request, _ path: String) async throws -> Response? {
    let query = Dictionary(request.target.query.map { ($0.name, $0.value) }) { first, _ in first }
    if request.method == "POST", query["uploads"] != nil {
      let id = uploads.withLock { uploads in
        let id = "upload-\(uploads.count)-\(path.suffix(4))"
        uploads[id] = [:]
        return id
      }
      return Self.document("<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>")
    }
    guard let id = query["uploadId"] else { return nil }
    switch request.method {
    case "PUT":
      let content = try await request.body.collect(upTo: 16 << 20)
      if isFirst(.failsInBody, path) { return Self.error("InternalError") }
      let number = query["partNumber"].flatMap { Int($0) } ?? 0
      let isThere = uploads.withLock { uploads in
        uploads[id]?[number] = content
        return uploads[id] != nil
      }
      return isThere ? Response(.ok, headers: ["ETag": "\"\(number)\""]) : Self.error("NoSuchUpload", .notFound)
    case "DELETE":
      return uploads.withLock { $0.removeValue(forKey: id) } != nil
        ? Response(.noContent) : Self.error("NoSuchUpload", .notFound)
    default:
      _ = try await request.body.collect(upTo: 16 << 20)
      return complete(id, path, isOnlyNew: request.headers["if-none-match"] == "*")
    }
  }

  private func complete(_ id: String, _ path: String, isOnlyNew: Bool) -> Response {
    if isFirst(.losesUpload) { uploads.withLock { $0[id] = nil } }
    guard let parts = uploads.withLock({ $0[id] }) else { return Self.error("NoSuchUpload", .notFound) }
    if isFirst(.failsLate) { return Self.error("InternalError") }
    if isOnlyNew, objects.withLock({ $0[path] != nil }) { return Self.error("PreconditionFailed", .preconditionFailed) }
    objects.withLock { $0[path] = parts.sorted { $0.key < $1.key }.flatMap(\.value) }
    uploads.withLock { $0[id] = nil }
    if isFirst(.completesLate) { return Self.error("SlowDown") }
    return Self.document("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
  }

  private static func document(_ text: String) -> Response { Response(.ok, body: .bytes(Array(text.utf8))) }
}
