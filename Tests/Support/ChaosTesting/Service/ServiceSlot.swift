/// A place for a process of the service: when one ends, another takes it.
final class ServiceSlot {
  let role: Member.Role
  let number: Int
  var member: Member
  var lives = 1
  /// Whether it stands still, or is cut off, for a while.
  var isBusy = false
  /// How often the controller let it stand still.
  var ordered = 0

  init(role: Member.Role, number: Int, member: Member) {
    self.role = role
    self.number = number
    self.member = member
  }
}
