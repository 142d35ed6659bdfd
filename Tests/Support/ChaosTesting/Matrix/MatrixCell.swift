/// One place of the matrix: what is done to whom, and at which moment.
package struct MatrixCell: Sendable, Hashable, CustomStringConvertible {
  package let role: Member.Role
  /// A failpoint, with `.before` or `.after`.
  package let point: String
  package let fault: FaultKind

  package init(_ role: Member.Role, _ point: String, _ fault: FaultKind) {
    self.role = role
    self.point = point
    self.fault = fault
  }

  package var description: String { "\(role.rawValue) \(point) \(fault.rawValue)" }

  /// The act, without the moment.
  package var act: String { String(point.prefix(upTo: point.lastIndex(of: ".") ?? point.endIndex)) }
}
