/// What a connection knows of the request in progress.
struct Exchange {
  /// Whether the client asks that the connection is closed after the response; nil for input that is not a valid request.
  let endsConnection: Bool?
  let hasBody: Bool
  /// Whether the client of a late request goes on from what has arrived.
  let isResumable: Bool
  /// Whether the client waits for 100 Continue, which has not been sent.
  var awaitsContinue: Bool
  /// The time that the client has left for the body; nil for input that is not a valid request.
  var bodyTime: BodyTime?

  /// A request with a valid head.
  init(_ head: RequestHead, isResumable: Bool, bodyTime: BodyTime) {
    endsConnection = head.endsConnection
    hasBody = head.hasBody
    self.isResumable = isResumable
    awaitsContinue = head.expectsContinue
    self.bodyTime = bodyTime
  }

  private init() { (endsConnection, hasBody, isResumable, awaitsContinue) = (nil, false, false, false) }

  /// Input that is not a valid request, or that exceeds a limit.
  static let refused = Exchange()
}
