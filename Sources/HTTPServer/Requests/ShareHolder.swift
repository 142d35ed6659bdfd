package import Platform

/// The client whose share a connection, a request or what the request begins uses: a credential, or an address without one.
package enum ShareHolder: Sendable, Hashable, CustomStringConvertible {
  case address(IPAddress)
  /// An API key that acts as no user, by its name.
  case key(String)
  /// A user, by the bytes of the id: texts of the same characters may be ids of two users.
  case user([UInt8])

  package static func user(id: String) -> Self { .user(Array(id.utf8)) }

  package var description: String {
    switch self {
    case .address(let address): "\(address)"
    case .key(let name): "key \(name)"
    case .user(let id): "user \(String(decoding: id, as: UTF8.self))"
    }
  }

  /// Whether the client has authenticated.
  var isCredential: Bool { if case .address = self { false } else { true } }

  /// The limit that the share has.
  var limit: Refusal {
    switch self {
    case .address: .address
    case .key: .key
    case .user: .user
    }
  }
}

/// The limit that refused a connection, a request or a stream.
package enum Refusal: String, Sendable, CaseIterable {
  /// The maximum number of connections.
  case connections
  /// The maximum number of connections, or concurrent requests, of one address.
  case address
  /// The maximum number of concurrent requests of one API key.
  case key
  /// The maximum number of concurrent requests of one user.
  case user
  /// The maximum number of streamed responses.
  case streams
}
