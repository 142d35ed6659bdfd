/// How long things take in a run: short leases, so that many of them can be lost.
package struct ChaosTimes: Sendable {
  package var lease: Duration
  package var reap: Duration
  package var poll: Duration
  package var drain: Duration

  package init(
    lease: Duration = .seconds(2), reap: Duration = .milliseconds(660), poll: Duration = .milliseconds(100),
    drain: Duration = .milliseconds(300)
  ) {
    self.lease = lease
    self.reap = reap
    self.poll = poll
    self.drain = drain
  }

  /// As the program's words.
  var words: [String] {
    [("--lease", lease), ("--reap", reap), ("--poll", poll), ("--drain", drain)].flatMap { name, duration in
      [name, "\(Int(duration / .milliseconds(1)))"]
    }
  }
}
