/// One line of a ledger: who, when, what.
package struct LedgerEntry: Sendable, Hashable {
  package let process: Int32
  package let moment: Moment
  package let event: LedgerEvent

  package init(process: Int32, moment: Moment, event: LedgerEvent) {
    self.process = process
    self.moment = moment
    self.event = event
  }

  /// As it stands in the file, without the end of the line.
  var line: String {
    (["\(process)", "\(moment.wall)", "\(moment.steady)"] + event.words).joined(separator: " ")
  }

  /// Reads a line; nil if it is none.
  init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count > 3, let process = Int32(words[0]), let wall = Int64(words[1]), let steady = Int64(words[2]),
      let event = LedgerEvent(words[3...])
    else { return nil }
    self.init(process: process, moment: Moment(wall: wall, steady: steady), event: event)
  }
}
