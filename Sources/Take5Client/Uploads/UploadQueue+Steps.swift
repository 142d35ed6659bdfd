import Foundation

extension UploadQueue {
  /// A full disk costs no submission: after the next start the queue asks the service for the state that it could not store.
  func save(_ record: UploadRecord) {
    do throws(Take5Error) { try folder.save(record) } catch {}
  }

  /// Takes the remaining steps; returns the id of the submitted post or image.
  func advance(_ record: inout UploadRecord) async throws(Take5Error) -> String {
    var created: Set<Int> = []
    for index in record.files.indices where record.files[index].upload == nil {
      record.files[index].upload = try await create(record.files[index], of: record.user)
      created.insert(index)
      save(record)
    }
    if record.isSubmittedFirst { try await submit(&record) }
    for index in record.files.indices where !record.files[index].isWhole {
      try await send(index, of: &record, isNew: created.contains(index))
      save(record)
    }
    try await submit(&record)
    guard let result = record.result else { throw .unreadable("the submission has no id") }
    return result
  }

  private func create(_ file: UploadRecord.File, of user: String) async throws(Take5Error) -> String {
    var request = Request("POST", "/v1/uploads")
    request.user = user
    request.headers = ["Upload-Complete": "?0", "Upload-Length": "\(file.length)"]
    let location = try await connection.response(request).header("Location")
    guard let id = location?.split(separator: "/").last else { throw .unreadable("an upload has no Location") }
    return String(id)
  }

  /// Submits it, once: a repetition with its key gets the first response.
  private func submit(_ record: inout UploadRecord) async throws(Take5Error) {
    guard record.result == nil else { return }
    let path = record.post.map { Request.path("v1", "posts", $0, "reactions") } ?? "/v1/posts"
    var request = Request("POST", path, json: record.body, key: record.key)
    (request.retries, request.user) = (0, record.user)
    // A repetition after the end of the app must have the same body as this one.
    do throws(Take5Error) { try folder.save(record) } catch { throw .problem(.deviceFull) }
    let submitted: Identified = try await connection.value(request)
    record.result = submitted.id
    save(record)
  }

  private func send(_ index: Int, of record: inout UploadRecord, isNew: Bool) async throws(Take5Error) {
    let file = record.files[index]
    guard let upload = file.upload else { return }
    await sender.adopt(upload)
    if !isNew {
      var request = Request("HEAD", Request.path("v1", "uploads", upload))
      request.user = record.user
      let response = try await connection.response(request)
      guard let offset = response.header("Upload-Offset").flatMap(Int64.init), (0...file.length).contains(offset) else {
        throw .unreadable("an upload has no offset")
      }
      record.files[index].offset = offset
      // One that was refused counts as complete: the next part then gets the reason.
      record.files[index].isWhole = offset == file.length && response.header("Upload-Complete") == "?1"
      progress(record)
      if record.files[index].isWhole { return }
    }
    let (others, reported) = (record, Reported(record.files[index].offset))
    let url = folder.file(file, of: record.id)
    defer { record.files[index].offset = reported.value }
    try await sender.send(url, from: record.files[index].offset, length: file.length, to: upload, of: record.user) {
      offset in
      reported.value = offset
      var record = others
      record.files[index].offset = offset
      await self.progress(record)
    }
    (reported.value, record.files[index].isWhole) = (file.length, true)
  }

  private func progress(_ record: UploadRecord) {
    report(record) { ($0.phase, $0.sentBytes) = (.sending, record.sent) }
  }
}

/// What `Location` and the body of a submission name.
private struct Identified: Decodable {
  var id: String
}

/// The last offset that the service has reported.
private final class Reported: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Int64
  init(_ value: Int64) { stored = value }
  var value: Int64 {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
