/// A place for a process: when one ends, another takes it.
final class StormSlot {
  let role: Member.Role
  let number: Int
  var member: Member
  /// How many processes it has seen.
  var lives = 1
  /// Whether something is being done to it that takes its time.
  var isBusy = false
  /// Whether the controller ended it, so that nobody wonders.
  var isEnding = false
  /// How often the controller let it stand still.
  var ordered = 0

  init(role: Member.Role, number: Int, member: Member) {
    self.role = role
    self.number = number
    self.member = member
  }
}
