import Crypto
import FoundationEssentials
internal import HTTPClient
import Model
import Platform

/// Uploads in parts (Amazon S3 API Reference, `CreateMultipartUpload`): a lost connection costs a part, and an object is there
/// with its last part or not at all.
extension S3Client {
  /// An upload whose parts lie in the store and are no object yet.
  struct UnfinishedUpload: Sendable, Hashable {
    let key: String
    let id: String
  }

  /// The codes after which an upload begins again.
  private static let restarts = ["NoSuchUpload", "ConditionalRequestConflict"]

  /// Writes an object in parts. Removes the parts of an upload that fails, if the store can be reached.
  ///
  /// - Parameter isFirst: whether the upload begins once more if the store has lost it, or if another writer is in its way for long.
  func putParts(
    _ key: String, _ file: OpenFile, bytes: Int64, hash: SHA256Digest, headers: [(name: String, value: String)],
    isFirst: Bool = true
  ) throws {
    let started = S3Document(try send("POST", key, query: [("uploads", "")], headers: location.keeping).body)
    guard let id = started.text("UploadId") else {
      throw S3Error(status: 200, code: "", description: "\(location): POST \(key): the store has sent no UploadId")
    }
    do {
      var whole = SHA256()
      var tags: [String] = []
      for start in stride(from: 0, to: bytes, by: Int(partBytes)) {
        let range = start..<min(start + partBytes, bytes)
        let part = try digest(of: file, range, adding: &whole)
        let query = [("partNumber", "\(tags.count + 1)"), ("uploadId", id)]
        let response = try send("PUT", key, query: query, body: .file(file, path: key, range: range), hash: part.hex)
        guard let tag = response.headers["etag"] else {
          throw S3Error(status: 200, code: "", description: "\(location): a part of \(key) has no ETag")
        }
        tags.append(tag)
      }
      // Each part has a hash of its own: the file may have changed between two parts.
      guard whole.finalize() == hash else {
        throw S3Error(status: nil, code: "", description: "\(key) has changed on this machine while it was sent")
      }
      try complete(key, id, tags, bytes: bytes, headers: headers)
    } catch {
      try? abort(UnfinishedUpload(key: key, id: id))
      guard isFirst, let code = (error as? S3Error)?.code, Self.restarts.contains(code) else { throw error }
      try putParts(key, file, bytes: bytes, hash: hash, headers: headers, isFirst: false)
    }
  }

  private func complete(
    _ key: String, _ id: String, _ tags: [String], bytes: Int64, headers: [(name: String, value: String)]
  ) throws {
    let parts = tags.enumerated().map { "<Part><PartNumber>\($0 + 1)</PartNumber><ETag>\($1)</ETag></Part>" }
    let body = Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8)
    do {
      _ = try send(
        "POST", key, query: [("uploadId", id)], headers: headers, body: .bytes(body), hash: SHA256.digest(of: body).hex)
    } catch let error as S3Error where error.code == "NoSuchUpload" {
      // An attempt before has put the parts together, whatever its response was; without a condition the object may be the one to replace.
      guard !headers.isEmpty, try length(of: key) == bytes else { throw error }
    }
  }

  private func digest(
    of file: OpenFile, _ range: Range<Int64>, adding whole: inout SHA256
  ) throws(SystemError) -> SHA256Digest {
    var hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      let room = UnsafeMutableRawBufferPointer(
        rebasing: buffer[..<Int(min(Int64(buffer.count), range.upperBound - offset))])
      let count = try file.descriptor.read(into: room, at: offset)
      guard count > 0 else { break }
      let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
      hasher.update(bytes)
      whole.update(bytes)
      offset += Int64(count)
    }
    return hasher.finalize()
  }

  /// Removes the parts of an upload.
  func abort(_ upload: UnfinishedUpload) throws {
    do { _ = try send("DELETE", upload.key, query: [("uploadId", upload.id)]) } catch let error as S3Error
      where error.code == "NoSuchUpload" || error.isMissing
    {}
  }

  /// The uploads below the prefix of the location that began longer ago than a writer takes: nothing in a store says that a
  /// writer has ended.
  func abandonedUploads() throws -> [UnfinishedUpload] {
    let end = Date(timeIntervalSince1970: Double(storeSeconds() - uploadSeconds))
    let prefix = location.key("")
    var found: [UnfinishedUpload] = []
    var markers: [(name: String, value: String)] = []
    repeat {
      let query = [("uploads", ""), ("prefix", prefix), ("encoding-type", "url")] + markers
      let response = try send("GET", "", query: query)
      let page = S3Document(response.body)
      guard page.isOf("ListMultipartUploadsResult") else { throw unreadable("a list of uploads", response) }
      for upload in page.elements("Upload") {
        guard let key = upload.text("Key").flatMap({ S3Document.decoded($0) }), let id = upload.text("UploadId"),
          let time = upload.text("Initiated").flatMap({ RFC3339.date(from: $0) })
        else { throw unreadable("a list of uploads", response) }
        if time < end { found.append(UnfinishedUpload(key: key, id: id)) }
      }
      markers = []
      guard page.text("IsTruncated") == "true" else { break }
      guard let key = page.text("NextKeyMarker").flatMap({ S3Document.decoded($0) }) else {
        throw unreadable("a list of uploads", response)
      }
      markers = [("key-marker", key), ("upload-id-marker", page.text("NextUploadIdMarker") ?? "")]
    } while !markers.isEmpty
    return found
  }
}
