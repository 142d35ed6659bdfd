package import Model

/// The clients that may use a route, and the rate limit that its requests count for.
package enum RouteAccess: Sendable {
  /// Anyone; the requests are not counted.
  case unlimited
  /// Anyone; the requests count for the address.
  case anyone
  /// An API key that has all of these scopes, or a user token if a user can have them; the requests count for the key or
  /// the token. A service that needs no key admits clients on this machine, and counts their requests for the address.
  case key(Set<Scope>)
  /// The same, or a user token that is limited to one submission.
  case upload(Set<Scope>)
  /// A user token, whatever it is limited to.
  case userToken
  /// The same as `key`, or a ticket that a client with one has got; requests with a ticket count for the address. A client that acts as
  /// no user needs those `ofAll` too.
  case keyOrTicket(Set<Scope>, ofAll: Set<Scope> = [])
  /// The same as `key`, or the secret of a link: the handler verifies it. Requests without a key or a token count for the
  /// address.
  case keyOrLink(Set<Scope>)
  /// The same as `key`, a signed URL, or neither: the handler then serves what is public. Requests without a key or a token
  /// count for the address.
  case media(Set<Scope>)
}
