internal import HTTPServer
internal import Platform

/// What the head of a request says of its client.
extension RequestHead {
  /// The header field by which a client with an API key acts as a user.
  static let userField = "Take5-User"

  /// The bearer token (RFC 6750, section 2.1); nil without one.
  var bearer: String? {
    let blank = UInt8(ascii: " ")
    let parts = (headers["Authorization"] ?? "").utf8.split(separator: blank, maxSplits: 1)
    guard headers.values("Authorization").count == 1, parts.count == 2,
      Substring(parts[0]).lowercasedASCII == "bearer"
    else { return nil }
    return String(Substring(parts[1].drop { $0 == blank }))
  }

  /// Returns the user that the request acts as; nil without the header field.
  func actingUser() throws(Problem) -> String? {
    let fields = headers.values(Self.userField)
    guard let field = fields.first else { return nil }
    // Of a code point at most four bytes, each of which may be encoded.
    guard fields.count == 1, field.utf8.count <= MaxLength.name * 12, field.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
      let user = RequestTarget.decode(field[...]),
      1...MaxLength.name ~= user.unicodeScalars.count
    else {
      throw ProblemKind.invalidFields.problem(
        "The header field \(Self.userField) is invalid.",
        errors: [FieldError(Self.userField, "expected one id of 1 to \(MaxLength.name) characters, percent-encoded")])
    }
    return user
  }
}

extension AccessControl {
  /// Refuses requests that a web page of another origin makes a browser on this machine send; without keys nothing else
  /// stops them.
  ///
  /// A host name other than this machine's lets a page read across origins (DNS rebinding); a request of another origin
  /// can submit without reading (RFC 6454; Fetch Metadata Request Headers, section 2.3).
  func checkOrigin(_ head: RequestHead, from client: IPAddress) throws(Problem) {
    guard !["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"].contains(where: { head.headers[$0] != nil }) else {
      onProxy(client)
      throw ProblemKind.foreignHost.problem("The request was forwarded by a proxy, which other machines may reach.")
    }
    guard let host = head.host,
      host == "localhost" || host.utf8.suffix(10).elementsEqual(".localhost".utf8)
        || IPAddress(host)?.isLoopback == true
    else {
      throw ProblemKind.foreignHost.problem("The request is for \(head.host ?? "no host"), which is not this machine.")
    }
    let site = head.headers["Sec-Fetch-Site"] ?? "none"
    let origin = head.headers["Origin"]
    guard ["same-origin", "none"].contains(site), origin == nil || origin == "http://\(head.authority ?? "")" else {
      throw ProblemKind.foreignOrigin.problem("The origin of the request is \(origin ?? "another site").")
    }
  }
}
