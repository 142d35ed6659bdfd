import HTTPServer
internal import Store

extension OwnershipRefusal: RequestRefusal {
  var problem: Problem { Caller.notYours("It belongs to another user than the one that the request acts as.") }
}

extension SuspendedRefusal: RequestRefusal {
  var problem: Problem { AccessControl.userSuspended(user) }
}
