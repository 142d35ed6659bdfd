/// Whose turn a job takes: of those who submit much at once, each gets one turn after the other.
///
/// This is start-time fair queueing at the time of submission (Goyal, Vin and Cheng, SIGCOMM 1996), with the server's
/// clock as virtual time, and nobody is set back by more than ten minutes.
package struct JobShare: Sendable, Hashable {
  package let name: String
  /// How far apart the turns of one name are.
  package let seconds: Double

  package init(name: String, seconds: Double = 1) {
    self.name = name
    self.seconds = seconds
  }
}
