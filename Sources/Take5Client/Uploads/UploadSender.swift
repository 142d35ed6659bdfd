import Foundation

/// What sends the bytes of a file: in parts while the app runs, or by the system in the background.
protocol UploadSender: Sendable {
  /// Sends a file from an offset to its end.
  ///
  /// - Parameter report: Receives the bytes that the service has.
  func send(
    _ file: URL, from offset: Int64, length: Int64, to upload: String, of user: String,
    report: @escaping @Sendable (Int64) async -> Void
  ) async throws(Take5Error)

  /// Waits for what an earlier process of the app has handed to the system, which a new request would interrupt.
  func adopt(_ upload: String) async

  /// Ends what the system sends.
  func cancel(_ upload: String) async
}

/// Sends a file in parts, each a request of about a second, by the IETF draft of resumable uploads.
///
/// At most one part of a file is in memory. FoundationNetworking reads a file whole for a task with a completion handler, and may end
/// the process when it repeats a stream, so the body of a request is a part in memory on all platforms.
struct PartSender: UploadSender {
  static let minPart: Int64 = 64 << 10
  static let maxPart: Int64 = 3 << 20

  let connection: Connection

  func send(
    _ file: URL, from offset: Int64, length: Int64, to upload: String, of user: String,
    report: @escaping @Sendable (Int64) async -> Void
  ) async throws(Take5Error) {
    var (offset, part) = (offset, Self.minPart * 8)
    repeat {
      let bytes = try FileSlice.read(file, from: offset, count: min(part, length - offset))
      let isLast = bytes.count >= length - offset
      var request = Request("PATCH", Request.path("v1", "uploads", upload))
      request.headers = ["Upload-Offset": "\(offset)", "Upload-Complete": isLast ? "?1" : "?0"]
      (request.body, request.contentType) = (bytes, "application/partial-upload")
      (request.timeout, request.user) = (60, user)
      let start = Date()
      let response = try await connection.response(request)
      let next = response.header("Upload-Offset").flatMap(Int64.init) ?? offset &+ Int64(bytes.count)
      // A service that has other bytes than were sent has another file.
      guard next > offset || length == 0, next <= length else { throw .unreadable("Upload-Offset is \(next)") }
      offset = next
      await report(offset)
      let factor = min(4, max(0.25, 1 / max(0.001, -start.timeIntervalSinceNow)))
      part = min(Self.maxPart, max(Self.minPart, Int64((Double(part) * factor).rounded())))
    } while offset < length
  }

  func adopt(_ upload: String) async {}
  func cancel(_ upload: String) async {}
}

/// Parts of files.
enum FileSlice {
  static func length(_ url: URL) throws(Take5Error) -> Int64 {
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { handle.closeFile() }
      return Int64(try handle.seekToEnd())
    } catch {
      throw .file("\(url.lastPathComponent) cannot be read.")
    }
  }

  /// Reads exactly so many bytes: a file that has become shorter throws.
  static func read(_ url: URL, from start: Int64, count: Int64) throws(Take5Error) -> Data {
    guard count > 0 else { return Data() }
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { handle.closeFile() }
      try handle.seek(toOffset: UInt64(start))
      if let data = try handle.read(upToCount: Int(count)), data.count == Int(count) { return data }
    } catch {
      throw .file("\(url.lastPathComponent) cannot be read.")
    }
    throw .file("\(url.lastPathComponent) is shorter than it was.")
  }

  /// Copies the rest of a file in steps of a MiB.
  static func copyRest(of url: URL, from start: Int64, to rest: URL) throws(Take5Error) {
    do {
      let source = try FileHandle(forReadingFrom: url)
      defer { source.closeFile() }
      try source.seek(toOffset: UInt64(start))
      guard FileManager.default.createFile(atPath: rest.path, contents: nil) else {
        throw CocoaError(.fileWriteUnknown)
      }
      let target = try FileHandle(forWritingTo: rest)
      defer { target.closeFile() }
      while let step = try source.read(upToCount: 1 << 20), !step.isEmpty { try target.write(contentsOf: step) }
    } catch {
      throw .file("The rest of \(url.lastPathComponent) cannot be copied.")
    }
  }
}
