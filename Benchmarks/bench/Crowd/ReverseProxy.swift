import Glibc
internal import HTTPTesting
internal import Platform

/// nginx in front of a service, with the location of docs/deploying.md.
final class ReverseProxy {
  let port: UInt16
  private var child: ChildProcess?

  /// Starts nginx, and waits until it accepts connections; the calling thread must outlive it.
  ///
  /// - Parameter service: the port of the service.
  init(before service: UInt16, in folder: String) throws {
    port = try LocalSocket.listening().port
    let location = try Self.location().replacing("127.0.0.1:8080", with: "127.0.0.1:\(service)")
    // Paths of nginx are relative to the folder.
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path nginx-\($0);" }.joined(separator: " ")
    let configuration = """
      daemon off;
      worker_processes 2;
      pid nginx.pid;
      error_log stderr warn;
      events { worker_connections 4096; }
      http {
        access_log off;
        \(temporary)
        server { listen 127.0.0.1:\(port); \(location) }
      }

      """
    try Descriptor(writing: "\(folder)/nginx.conf", replacing: true).write(Array(configuration.utf8))
    let programs = ["/usr/sbin/nginx", ".build/nginx/usr/sbin/nginx"]
    guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
      throw BenchError("nginx was not found: run 'make nginx'")
    }
    child = try Command(path: program, arguments: ["-p", folder, "-c", "nginx.conf"], log: "\(folder)/nginx.log")
      .start()
    for _ in 0..<100 {
      if (try? ClientConnection(port: port)) != nil { return }
      usleep(50_000)
    }
    throw BenchError("nginx did not start: \(folder)/nginx.log")
  }

  /// Ends nginx.
  func stop() {
    guard let child = child.take() else { return }
    child.send(signal: SIGTERM)
    _ = child.wait()
  }

  private static func location() throws -> String {
    let document = String(decoding: try Descriptor(reading: "docs/deploying.md").contents(), as: UTF8.self)
    let lines = document.split(separator: "\n").drop { $0 != "  location / {" }
    guard let end = lines.firstIndex(of: "  }") else { throw BenchError("docs/deploying.md has no location of nginx") }
    return lines[...end].joined(separator: "\n")
  }
}
