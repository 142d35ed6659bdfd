import Platform

/// What the user sees while files are sent: a bar on a terminal, and in any case a line when the connection is lost and when
/// the upload goes on.
final class SendingProgress: Sendable {
  private struct State {
    var rate = TransferRate()
    var sent: Int64 = 0
    var isLost = false
  }

  private let bar = ProgressBar("sending", estimates: false)
  private let total: Int64
  private let start = ContinuousClock.now
  private let state = Locked(State())

  /// - Parameter total: the length of all files in bytes.
  init(total: Int64) { self.total = total }

  /// Shows the number of bytes that have been sent.
  func show(_ sent: Int64) {
    guard total > 0 else { return }
    let now = start.duration(to: .now)
    let rate = state.withLock { state in
      state.sent = sent
      state.rate.add(sent, at: now)
      return state.rate.bytesPerSecond
    }
    bar.show(Double(sent) / Double(total), stage: ByteText.progress(sent, of: total, rate: rate))
  }

  /// Shows that the upload waits until it is tried again.
  func wait(_ failure: TemporaryFailure, _ pause: RetrySchedule.Pause, left: Duration) {
    let sent = state.withLock { state in
      state.rate = TransferRate()
      return state.sent
    }
    let retry = "retry in \(ByteText.seconds(left))"
    let place = total > 0 ? " at \(ByteText.amount(sent, of: total))" : ""
    if left == pause.delay, pause.isReported {
      bar.note("take5: \(failure.text)\(place); \(retry): \(CommandFailure.line(failure.cause))")
      state.withLock { $0.isLost = true }
    }
    guard total > 0 else { return }
    bar.show(Double(sent) / Double(total), stage: "\(ByteText.amount(sent, of: total))  \(failure.text), \(retry)")
  }

  /// Shows that the service has responded again, and where the upload goes on.
  func goOn(at sent: Int64) {
    let wasLost = state.withLock { state in
      defer { state.isLost = false }
      return state.isLost
    }
    if wasLost, total > 0 { bar.note("take5: going on at \(ByteText.amount(sent, of: total))") }
    show(sent)
  }

  /// Writes a line in the place of the bar.
  func note(_ line: String) { bar.note(line) }

  /// Erases the bar.
  func clear() { bar.clear() }
}

/// The rate of a transfer over the last seconds.
struct TransferRate: Sendable {
  private static let window = Duration.seconds(5)
  private var samples: [(bytes: Int64, time: Duration)] = []

  /// Adds the number of bytes that have been sent at a time.
  mutating func add(_ bytes: Int64, at time: Duration) {
    if let last = samples.last, samples.count > 1, time - last.time < .milliseconds(100) { return }
    samples.append((bytes, time))
    while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
  }

  /// Nil in the first half second.
  var bytesPerSecond: Double? {
    guard let first = samples.first, let last = samples.last, last.time - first.time >= .milliseconds(500) else {
      return nil
    }
    return Double(max(0, last.bytes - first.bytes)) / ((last.time - first.time) / .seconds(1))
  }
}

/// Numbers of bytes as text.
enum ByteText {
  /// A part of a length, such as `7.3 of 20.0 MB`.
  static func amount(_ bytes: Int64, of total: Int64) -> String {
    let unit = Unit(total)
    return "\(unit.number(bytes)) of \(unit.number(total)) \(unit.name)"
  }

  /// A part of a length with the rate and the remaining time, such as `7.3 of 20.0 MB  1.2 MB/s  11 s left`.
  static func progress(_ bytes: Int64, of total: Int64, rate: Double?) -> String {
    guard let rate else { return amount(bytes, of: total) }
    let unit = Unit(Int64(rate))
    var text = "\(amount(bytes, of: total))  \(unit.number(Int64(rate))) \(unit.name)/s"
    guard rate >= 1, bytes < total else { return text }
    let left = (Double(total - bytes) / rate).rounded(.up)
    text += "  \(left < 60 ? "\(Int(left)) s" : DurationText.text(left)) left"
    return text
  }

  /// A duration in whole seconds, rounded up.
  static func seconds(_ duration: Duration) -> String { "\(Int((duration / .seconds(1)).rounded(.up))) s" }

  private struct Unit {
    let name: String
    private let size: Int64

    init(_ bytes: Int64) { (name, size) = bytes < 1_000_000 ? ("kB", 1000) : ("MB", 1_000_000) }

    func number(_ bytes: Int64) -> String {
      let tenths = (bytes * 10 + size / 2) / size
      return size == 1000 ? "\((bytes + 500) / 1000)" : "\(tenths / 10).\(tenths % 10)"
    }
  }
}
