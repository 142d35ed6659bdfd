internal import HTTPServer
internal import Kit
internal import Model
internal import Platform
internal import Postgres
internal import Store
internal import Telemetry

/// Sends users their events, on as many streams as they have open. One task reads and writes for all streams, so that each
/// stream gets its events in order, once.
///
/// Every two seconds one query finds the users who have more events than their streams have sent. A stream whose client
/// does not receive what was sent gets no more until it does: its position says where it continues, and nothing waits in
/// memory.
final class UserEventNotifier: Sendable {
  /// The number of users in one query.
  private static let maxUsers = 1000
  /// The number of events that are read for one stream at a time.
  static let maxEvents = 500
  /// The number of bytes that may wait for the client of a stream before it gets more.
  private static let maxUnsentBytes = 64 << 10

  private let database: Pool
  private let log: Logger
  private let streams = Subscriptions<UserKey, UserEventStream>()

  init(database: Pool, log: Logger) {
    self.database = database
    self.log = log
  }

  /// Sends a stream its events until the subscription is cancelled.
  func subscribe(_ stream: UserEventStream) -> StreamSubscription {
    // What was committed since the position of the stream was read is sent now.
    defer { streams.reportChange(of: stream.user) }
    return streams.add(stream, to: stream.user)
  }

  /// Sends events until the task is cancelled. If the database is unavailable, the next poll sends them.
  func run() async {
    await streams.run { users in
      do { try await send(to: users) } catch { logFailure(error, [:]) }
    }
  }

  private func logFailure(_ error: any Error, _ subject: KeyValuePairs<String, String?>) {
    guard !Task.isCancelled else { return }
    log.with(subject).warning("events could not be sent", ["error": "\(error)"])
  }

  /// Sends a user's events that a notification announces.
  func receive(_ user: String) { streams.reportChange(of: UserKey(user)) }

  /// Looks for events of all users: a window has opened, or notifications may have been missed.
  func readAll() { streams.reportChanges() }

  private func send(to users: [UserKey]) async throws {
    let window = try await database.run { try Window.lastChange($0) }
    var windows = WindowChanges(latest: window)
    for start in stride(from: 0, to: users.count, by: Self.maxUsers) {
      let some = Array(users[start..<min(start + Self.maxUsers, users.count)])
      // Before the numbers: a stream that comes later may know more.
      let open = some.map { user in (user: user, streams: streams.subscribers(of: user)) }
      let numbers = try await EventNumbers.present(in: database) {
        try await database.run { try EventNumbers(of: some, $0) }
      }
      for (user, streams) in open {
        for stream in streams where stream.body.unsentBytes < Self.maxUnsentBytes {
          // A `reset` comes before the windows.
          do {
            try await send(stream, numbers)
          } catch  where OutageProblem.problem(for: error) == nil {
            // It concerns one user alone.
            logFailure(error, ["user": user.text])
          }
          try await windows.read(after: stream.position.window, database)
          stream.send(windows.changes)
        }
      }
    }
  }

  /// Sends the events of a user that the stream lacks.
  private func send(_ stream: UserEventStream, _ numbers: EventNumbers) async throws {
    let (number, last) = (stream.position.number, numbers[stream.user])
    guard last != number else { return }
    let user = stream.user.text
    let (events, oldest) = try await database.run { session in
      (
        try Events.list(of: user, after: number, limit: Self.maxEvents, session),
        user == UserEvent.everyone ? try Events.firstPosition(session) : nil
      )
    }
    stream.send(events, oldest: oldest, last: last, in: numbers.history)
    if events.count == Self.maxEvents { receive(user) }
  }
}

/// The openings and closings of windows that streams lack, read once for all streams.
private struct WindowChanges {
  private let latest: Int64
  private var first: Int64
  private(set) var changes: [WindowChange] = []

  init(latest: Int64) {
    self.latest = latest
    first = latest
  }

  mutating func read(after position: Int64, _ database: Pool) async throws {
    guard position < first else { return }
    changes = try await database.run { try Window.changes(after: position, $0) }
    first = position
  }
}

/// The stream of one client, and how far it has got.
final class UserEventStream: Sendable {
  let user: UserKey
  let body: BodyStream
  private let sent: Locked<EventProgress>

  var position: EventPosition { sent.withLock(\.position) }

  /// - Parameters:
  ///   - position: where it continues.
  ///   - isNew: whether the client has no position yet; it receives one.
  ///   - onEnd: called once, when the response has ended.
  init(user: String, at position: EventPosition, isNew: Bool, onEnd: @escaping @Sendable () -> Void) {
    self.user = UserKey(user)
    sent = Locked(EventProgress(at: position))
    body = BodyStream { _ in onEnd() }
    // Something at once: a proxy may hold back the header section until the first bytes of the body.
    body.write(isNew ? ServerSentEvent(id: position, name: "start", data: "{}").bytes : BodyStream.emptyComment)
  }

  /// Sends the events that follow the position of the stream.
  ///
  /// - Parameters:
  ///   - oldest: the number of the oldest event that is stored, for the reader of all events, whose numbers have gaps.
  ///   - last: the number of the last event, which was read before.
  func send(_ events: [UserEvent], oldest: Int64?, last: Int64, in history: EventHistory) {
    var bytes: [UInt8] = []
    let isForAll = user.text == UserEvent.everyone
    sent.withLock { sent in
      if sent.resume(at: events.first?.number, oldest: oldest, last: last, in: history) {
        bytes += ServerSentEvent(id: sent.position, name: "reset", data: "{}").bytes
      }
      for event in events where event.number > sent.position.number {
        sent.position.number = event.number
        guard event.kind != UserEvent.blank, EventKind(event.kind)?.isStreamed ?? !isForAll,
          !(isForAll && event.kind == UserEvent.Kind.windowOpened.rawValue)
        else { continue }
        bytes +=
          ServerSentEvent(id: sent.position, name: event.kind, of: UserEventResponse(event, isForAll: isForAll)).bytes
      }
    }
    if !bytes.isEmpty { body.write(bytes) }
  }

  /// Sends the openings and closings of windows that follow the position of the stream.
  func send(_ changes: [WindowChange]) {
    var bytes: [UInt8] = []
    sent.withLock { sent in
      for change in changes where change.position > sent.position.window {
        sent.position.window = change.position
        bytes +=
          ServerSentEvent(
            id: sent.position, name: change.isOpening ? "window_opened" : "window_closed",
            of: WindowChangeResponse(change)
          ).bytes
      }
    }
    if !bytes.isEmpty { body.write(bytes) }
  }
}

/// One server-sent event (WHATWG HTML, section 9.2).
private struct ServerSentEvent {
  let id: EventPosition
  let name: String
  /// One line.
  let data: String

  init(id: EventPosition, name: String, data: String) {
    self.id = id
    self.name = name
    self.data = data
  }

  /// An event with a value as JSON; for what cannot be written, the event by which clients read everything again.
  init(id: EventPosition, name: String, of value: some Encodable) {
    if let data = try? JSON.text(value) {
      self.init(id: id, name: name, data: data)
    } else {
      self.init(id: id, name: "reset", data: "{}")
    }
  }

  var bytes: [UInt8] { Array("id: \(id)\nevent: \(name)\ndata: \(data)\n\n".utf8) }
}
