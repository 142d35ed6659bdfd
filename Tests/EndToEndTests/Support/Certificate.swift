import Platform
import PostgresTesting
import Testing

/// A certificate for `localhost` that its own key has signed, made by openssl(1).
struct Certificate {
  /// The file of the certificate, in PEM.
  let path: String
  /// The file of its key.
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
    try #require(ending == .exited(0), "openssl made no certificate")
  }
}
