import Glibc
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// A reverse proxy before a service: Debian's nginx, configured as docs/operations.md says, with its files in a folder of
/// its own.
struct Nginx {
  let port: UInt16
  private let process: RunningTake5
  private let folder: TemporaryFolder

  /// Starts it and waits until it serves.
  ///
  /// - Parameters:
  ///   - url: of the service.
  ///   - apiKey: is sent with every request that passes; nil: what the client sends.
  ///   - certificate: what it speaks TLS with; nil: it speaks none.
  ///   - isPlain: whether it passes requests on and is told nothing more.
  init(
    before url: String, apiKey: String? = nil, certificate: Certificate? = nil, isPlain: Bool = false
  ) async throws {
    folder = try TemporaryFolder(prefix: "take5-nginx")
    port = try Self.freePort()
    let location =
      isPlain
      ? "location / { proxy_pass http://127.0.0.1:8080; }"
      : try Document("docs/operations.md").lines(of: "nginx").joined(separator: "\n")
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
      ["-p", folder.path, "-c", file], program: try Self.find(), saysFirstLine: false)
    try #require(await process.waitForLog("start worker process "), "nginx did not start: \(process.log)")
  }

  /// Ends it.
  func stop() async {
    await process.send(signal: SIGTERM)
    _ = await process.wait()
  }

  /// A port that nobody listens on at this moment.
  private static func freePort() throws -> UInt16 {
    let descriptor = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      guard bind(descriptor.number, pointer, length) == 0 else { return Int32(-1) }
      return getsockname(descriptor.number, pointer, &length)
    }
    guard status == 0 else { throw SystemError(call: "bind") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Debian's, where it is installed or where `make nginx` lays it.
  private static func find() throws -> String {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let places = ["/usr/sbin/nginx", "\(root)/.build/nginx/usr/sbin/nginx"]
    return try #require(places.first { access($0, X_OK) == 0 }, "there is no nginx: 'make nginx' brings it")
  }
}
