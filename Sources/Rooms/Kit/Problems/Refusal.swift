internal import HTTPServer
internal import Store

/// An error that says why a request is refused, so that its client may know it. Whatever throws it, the route returns its problem.
protocol Refusal: Error {
  var problem: Problem { get }
}

extension OwnershipRefusal: Refusal {
  var problem: Problem { Caller.notYours("It belongs to another user than the one that the request acts as.") }
}

extension ForgottenRefusal: Refusal {
  var problem: Problem { ProblemKind.userForgotten.problem("The user '\(user)' is being deleted.") }
}

extension SuspendedRefusal: Refusal {
  var problem: Problem { AccessControl.userSuspended(user) }
}
