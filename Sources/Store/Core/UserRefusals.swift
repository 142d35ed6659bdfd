/// The error for something that would be stored for a user who is being deleted.
package struct ForgottenRefusal: Error, Sendable, Hashable {
  package let user: String
}

/// The error for something that would be stored for a user who is suspended.
package struct SuspendedRefusal: Error, Sendable, Hashable {
  package let user: String
}
