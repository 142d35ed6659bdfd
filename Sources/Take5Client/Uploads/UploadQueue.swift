public import Foundation

/// Submissions, which are stored first and then sent: also when the network comes back later, or after the app has ended.
///
/// Each submission has an Idempotency-Key of its own, so that none is stored twice. Files go on where they were interrupted.
///
/// ```swift
/// let upload = try await client.uploads.film(front: front, back: back, caption: "Dusk")
/// // At the next start of the app, and when the network comes back:
/// await client.uploads.resume()
/// for pending in await client.uploads.pending { print(pending.progress.fraction) }
/// ```
public actor UploadQueue {
  /// How many submissions are sent at the same time.
  static let parallel = 2

  nonisolated let connection: Connection
  let folder: QueueFolder
  let sender: any UploadSender

  var states: [UUID: UploadState] = [:]
  private var tasks: [UUID: Task<Void, Never>] = [:]
  private var pauses: [UUID: Task<Void, Never>] = [:]
  /// Submissions that do not start until `resume()`: they wait for a sign-in, or are being cancelled.
  private var blocked: Set<UUID> = []

  init(connection: Connection, folder: QueueFolder, sender: any UploadSender) {
    (self.connection, self.folder, self.sender) = (connection, folder, sender)
  }

  // MARK: Submissions

  /// Submissions that are not sent yet, or were refused, the oldest first: of the user who is signed in, or of all while none is.
  ///
  /// A refused submission stays, with its `failure`, until `retry(_:)` or `cancel(_:)`.
  public var pending: [PendingUpload] {
    get async {
      let user = await user
      return folder.records().filter { user == nil || $0.user == user }.map { record in
        PendingUpload(
          id: record.id, createdAt: record.createdAt, kind: record.post == nil ? record.kind : nil,
          caption: record.caption, reactionTo: record.post, progress: state(of: record).progress,
          failure: record.failure)
      }
    }
  }

  private var user: String? {
    get async { do throws(Take5Error) { return try await connection.sessions.current()?.user } catch { return nil } }
  }

  /// A submission of a post that is in the queue, such as after the app was started again.
  public func upload(_ pending: PendingUpload) -> Upload<Post>? {
    pending.kind == nil ? nil : Upload(id: pending.id, queue: self)
  }

  /// Goes on with everything in the queue that is the user's: at the start of the app, when it comes to the foreground, and when the
  /// network comes back.
  public func resume() async {
    folder.removeRemains()
    blocked = []
    for pause in pauses.values { pause.cancel() }
    await startNext()
  }

  /// Tries again what was refused.
  public func retry(_ id: UUID) async throws(Take5Error) {
    guard tasks[id] == nil, var record = folder.read(id), record.failure != nil else { return }
    record.restart()
    record.restarts = 0
    try folder.save(record)
    states[id] = nil
    await startNext()
  }

  /// Ends a submission, and removes what the service has of it.
  public func cancel(_ id: UUID) async {
    await stop(id)
    defer { blocked.remove(id) }
    guard let record = folder.read(id) else { return }
    folder.remove(id)
    finish(id, .failure(.cancelled))
    var requests = record.files.compactMap(\.upload).map { Request("DELETE", Request.path("v1", "uploads", $0)) }
    if record.isSubmittedFirst, let post = record.result {
      requests.insert(Request("DELETE", Request.path("v1", "posts", post)), at: 0)
    }
    for var request in requests {
      (request.retries, request.timeout, request.user) = (0, 10, record.user)
      // What stays there expires.
      do throws(Take5Error) { _ = try await connection.response(request) } catch { continue }
    }
  }

  /// Waits until nothing more can be done: everything is sent, was refused, or waits for a sign-in.
  public func waitUntilIdle() async {
    while let task = tasks.values.first { await task.value }
  }

  /// Forgets everything that is in the queue.
  func forgetAll() async {
    let records = folder.records()
    blocked.formUnion(records.map(\.id))
    for record in records {
      await stop(record.id)
      folder.remove(record.id)
      finish(record.id, .failure(.cancelled))
    }
    blocked = []
  }

  private func stop(_ id: UUID) async {
    blocked.insert(id)
    tasks[id]?.cancel()
    for file in folder.read(id)?.files ?? [] {
      if let upload = file.upload { await sender.cancel(upload) }
    }
    await tasks[id]?.value
  }

  // MARK: Sending

  /// Stores a submission, and begins to send it.
  func add<Record>(_ record: UploadRecord, files: [URL]) async throws(Take5Error) -> Upload<Record> {
    try folder.add(record, files: files)
    states[record.id] = UploadState(record)
    await startNext()
    return Upload(id: record.id, queue: self)
  }

  /// Starts as many submissions of the user as may be sent at the same time.
  private func startNext(after ended: UUID? = nil) async {
    let user = await user
    if let ended { tasks[ended] = nil }
    for record in folder.records() where tasks.count < Self.parallel {
      guard tasks[record.id] == nil, !blocked.contains(record.id), record.failure == nil, record.user == user else {
        continue
      }
      let id = record.id
      tasks[id] = Task {
        if await self.run(id) == .signedOut { self.block(id) }
        await self.startNext(after: id)
      }
    }
  }

  private func block(_ id: UUID) { blocked.insert(id) }

  /// Waits before the next attempt; `resume()` ends it.
  func pause(_ id: UUID, _ seconds: TimeInterval) async {
    let pause = Task { do { try await Task.sleep(for: .seconds(seconds)) } catch {} }
    pauses[id] = pause
    await withTaskCancellationHandler {
      await pause.value
    } onCancel: {
      pause.cancel()
    }
    pauses[id] = nil
  }
}
