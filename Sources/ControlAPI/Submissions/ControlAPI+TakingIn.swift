internal import HTTPServer

extension ControlAPI {
  /// How long a submission waits for a connection to the database: its bytes are here, and to refuse it now would cost its
  /// client all of them again.
  static let checkout = Duration.seconds(120)

  /// Takes a submission in, unless too much is being taken in, or there is no room for it: that is said before its first
  /// byte is read.
  func takingIn(_ request: Request, _ body: () async throws -> Response) async throws -> Response {
    // A form that can only be text needs no room. Whether it is, its parts will tell.
    let isShort = request.head.contentLength.map { $0 <= SubmissionForm.maxText } ?? false
    if !isShort { try room.check() }
    return try await uploads.admit(request.client) { try await body() }
  }
}
