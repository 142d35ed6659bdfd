import Glibc
import HTTPTesting
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// A reverse proxy in front of a service: Debian's nginx with the configuration of docs/deploying.md and a temporary
/// folder.
struct Nginx {
  let port: UInt16
  private let process: RunningTake5
  private let folder: TemporaryFolder

  /// Starts nginx and waits until it accepts connections.
  ///
  /// - Parameters:
  ///   - url: the URL of the service.
  ///   - apiKey: the key that nginx adds to every request; nil leaves requests unchanged.
  ///   - certificate: the certificate for TLS; nil for plain HTTP.
  ///   - isPlain: whether nginx only has a `proxy_pass`, without the configuration of the document.
  init(
    before url: String, apiKey: String? = nil, certificate: Certificate? = nil, isPlain: Bool = false
  ) async throws {
    folder = try TemporaryFolder(prefix: "take5-nginx")
    port = try Self.freePort()
    let location =
      isPlain
      ? "location / { proxy_pass http://127.0.0.1:8080; }"
      : try Self.location()
    try #require(location.contains("http://127.0.0.1:8080"))
    let security = certificate.map { "ssl_certificate \($0.path); ssl_certificate_key \($0.key);" } ?? ""
    let authorization = apiKey.map { " proxy_set_header Authorization 'Bearer \($0)';" } ?? ""
    let configuration = """
      daemon off;
      worker_processes 1;
      pid \(folder.path)/pid;
      error_log stderr notice;
      events {}
      http {
        access_log off;
        client_body_temp_path \(folder.path)/body;
        proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi;
        uwsgi_temp_path \(folder.path)/uwsgi;
        scgi_temp_path \(folder.path)/scgi;
        server {
          listen 127.0.0.1:\(port)\(certificate == nil ? "" : " ssl");
          \(security)
          \(location.replacing("http://127.0.0.1:8080;", with: "\(url);\(authorization)"))
        }
      }

      """
    let file = "\(folder.path)/nginx.conf"
    try Descriptor(writing: file, replacing: true).write(Array(configuration.utf8))
    process = try RunningTake5()
    _ = try await process.start(
      ["-p", folder.path, "-c", file], program: try Self.find(), printsFirstLine: false)
    try #require(await process.waitForLog("start worker process "), "nginx did not start: \(process.log)")
  }

  /// Stops nginx.
  func stop() async {
    await process.send(signal: SIGTERM)
    _ = await process.wait()
  }

  /// The location in the configuration of the document.
  private static func location() throws -> String {
    let lines = try Document("docs/deploying.md").lines(of: "nginx").drop { $0 != "  location / {" }
    let end = try #require(lines.firstIndex(of: "  }"))
    return lines[...end].joined(separator: "\n")
  }

  /// A port that no process listens on at this moment.
  private static func freePort() throws -> UInt16 {
    try LocalSocket.listening().port
  }

  /// The path of nginx: installed, or unpacked by `make nginx`.
  private static func find() throws -> String {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let paths = ["/usr/sbin/nginx", "\(root)/.build/nginx/usr/sbin/nginx"]
    return try #require(paths.first { access($0, X_OK) == 0 }, "nginx not found: run 'make nginx'")
  }
}

/// A self-signed certificate for `localhost`, made by openssl(1).
struct Certificate {
  /// The path of the certificate, in PEM.
  let path: String
  /// The path of the private key.
  let key: String

  init(in folder: TemporaryFolder, name: String = "localhost") async throws {
    let (path, key) = ("\(folder.path)/\(name).pem", "\(folder.path)/\(name).key")
    (self.path, self.key) = (path, key)
    let ending = try await onThread("openssl") {
      try ChildProcess(
        .init(
          path: "/usr/bin/openssl",
          arguments: [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", path,
          ])
      ).wait()
    }
    try #require(ending == .exited(0), "openssl failed")
  }
}
