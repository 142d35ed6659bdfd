internal import HTTPServer
internal import Platform
internal import Store

/// A client as the limits of what is in progress know it.
enum Occupant: Sendable, Hashable {
  /// The user that the client acts as.
  case user(UserKey)
  /// The API key of a client that acts as no user.
  case key(String)
  /// The address of a client without a credential.
  case address(IPAddress)

  init(_ caller: Caller, at address: IPAddress) {
    if let user = caller.user {
      self = .user(UserKey(user))
    } else if caller.isAuthenticated {
      self = .key(caller.tenant)
    } else {
      self = .address(address.site)
    }
  }
}

extension Request {
  var occupant: Occupant { Occupant(caller, at: client) }
}
