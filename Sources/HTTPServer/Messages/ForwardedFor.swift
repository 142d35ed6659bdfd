internal import Platform

extension HeaderFields {
  /// Returns the client as trusted proxies report it: the last address in X-Forwarded-For that is not a trusted proxy.
  ///
  /// Throws 400 if a trusted proxy names something else than an address: such a client is not taken for the proxy, which no
  /// limit holds for.
  func client(from peer: IPAddress, isTrusted: (IPAddress) -> Bool) throws(Problem) -> IPAddress {
    var client = peer
    // From the end, as far as it is trusted: what stands before that may be of any length.
    for field in values("X-Forwarded-For").reversed() {
      var rest = field.utf8[...]
      while isTrusted(client), !rest.isEmpty {
        let comma = rest.lastIndex(of: UInt8(ascii: ","))
        let text = Substring(rest[(comma.map(rest.index(after:)) ?? rest.startIndex)...]).trimmingBlanks
        rest = rest[..<(comma ?? rest.startIndex)]
        if text.isEmpty { continue }
        guard let next = IPAddress(forwarded: text) else {
          throw Problem(
            .malformedRequest,
            detail: "The proxy \(client) names a client in X-Forwarded-For that is not an IP address.",
            remedy: "Let the proxy add the address of its client at the end of X-Forwarded-For.")
        }
        client = next
      }
    }
    return client
  }
}

extension IPAddress {
  /// Parses an address that a proxy reports: some add the port, and brackets to an IPv6 address.
  init?(forwarded text: Substring) {
    if let address = IPAddress(text) {
      self = address
      return
    }
    let bytes = text.utf8
    let isInBrackets = bytes.first == UInt8(ascii: "[")
    guard let end = bytes.firstIndex(of: UInt8(ascii: isInBrackets ? "]" : ":")) else { return nil }
    let port = isInBrackets ? bytes[end...].dropFirst() : bytes[end...]
    let isPort = port.first == UInt8(ascii: ":") && UInt16(Substring(port.dropFirst())) != nil
    guard isPort || isInBrackets && port.isEmpty,
      let address = IPAddress(Substring(bytes[..<end].dropFirst(isInBrackets ? 1 : 0)))
    else { return nil }
    self = address
  }
}
