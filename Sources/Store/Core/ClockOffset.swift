import Glibc
package import Postgres

/// How far the clock of this machine is ahead of the database server's. Signed URLs and the expiry of uploads follow the
/// one, and everything else the other, so that two machines disagree by what their offsets differ.
package struct ClockOffset: Sendable, Hashable {
  /// The offset that is tolerated, in seconds.
  package static let tolerance = 2.0

  /// The seconds by which this machine is ahead; negative: behind.
  package let seconds: Double
  /// The error of the measurement, at most half of its round trip.
  package let error: Double

  package init(seconds: Double, error: Double) {
    self.seconds = seconds
    self.error = error
  }

  /// Asks the database for its time.
  package init(_ session: Session) throws(PostgresError) {
    let start = Self.now
    let database = try session.execute(Store.statements["clock"]).single().get("seconds", as: Double.self)
    let end = Self.now
    self.init(seconds: (start + end) / 2 - database, error: abs(end - start) / 2)
  }

  /// What of the offset is certain, in seconds: 0 if the round trip took longer than the clocks seem to differ.
  package var certain: Double { abs(seconds) > error ? seconds - (seconds < 0 ? -error : error) : 0 }

  /// Whether the clocks differ by more than is tolerated, for certain.
  package var isWrong: Bool { abs(certain) > Self.tolerance }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
