package import HTTPServer
internal import Store

/// An error that says why a request is refused, so that its client may know it. Whatever throws it, the route returns its problem.
package protocol RequestRefusal: Error {
  var problem: Problem { get }
}

extension ForgottenRefusal: RequestRefusal {
  var problem: Problem { ProblemKind.userForgotten.problem("The user '\(user)' is being deleted.") }
}
