internal import HTTPServer
internal import Kit

/// The routes of the console's files: the pages for operators and for filming, and what they consist of.
///
/// They are no operations of the API: the document does not describe them, and they need no credential.
struct ConsoleRoutes: RouteRoom {
  let kit: Kit
  /// The origin of the bucket that clients are redirected to for media; nil: the service sends all of them.
  let mediaOrigin: String?

  var routes: [Route] {
    let files = ConsoleFiles(headers: headers)
    // What a link to a page adds to its path is for the page.
    func route(_ path: String, _ name: @escaping @Sendable (Request) -> String) -> Route {
      self.route("GET", path, access: .anyone, readsQuery: true) { request in
        try await files.respond(to: request, with: name(request))
      }
    }
    return [
      route("/console") { _ in "console.html" }, route("/film") { _ in "film.html" },
      route("/client.js") { _ in "client.js" }, route("/console/{file}") { $0.parameter("file") },
    ]
  }

  private var headers: HeaderFields {
    [
      // Caches must revalidate a file, because it changes with the version of the program.
      "Cache-Control": "no-cache", "Vary": "Accept-Encoding", "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY",
    ]
  }

  /// What a page may load and send (Content Security Policy Level 3): only what the service itself has, and no inline script or style.
  private var contentSecurityPolicy: String {
    let media = "'self'" + (mediaOrigin.map { " \($0)" } ?? "")
    return [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src \(media) blob: data:",
      "media-src \(media) blob:", "connect-src \(media)", "base-uri 'none'", "form-action 'none'",
      "frame-ancestors 'none'",
    ].joined(separator: "; ")
  }
}
