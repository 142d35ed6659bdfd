import FoundationEssentials
package import HTTPClient
import Model
import Platform

/// Where the keys of an object store come from: the environment, a role for a token of the machine's identity provider, a file, or the
/// metadata service of the machine, in this order.
package final class S3CredentialSource: Sendable {
  /// The time before the end of temporary keys at which they are read again, in seconds.
  private static let margin = 300

  private struct Temporary: Sendable {
    let credentials: S3Credentials
    /// Seconds since 1970-01-01 UTC.
    let expires: Int
  }

  /// There are no keys, and why.
  package struct Missing: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  private let environment: [String: String]
  private let metadata: ServerAddress
  private let now: @Sendable () -> Int
  /// The time after a failure in which keys that are good are not read again, in seconds.
  private static let pause = 30

  private let temporary = Locked<(known: Temporary?, nextRead: Int)>((nil, 0))

  /// - Parameters:
  ///   - metadata: the metadata service of the machine.
  ///   - now: returns the time in seconds since 1970-01-01 UTC.
  package init(
    environment: [String: String], metadata: ServerAddress = ServerAddress(host: "169.254.169.254", port: 80),
    now: @escaping @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
  ) {
    self.environment = environment
    self.metadata = metadata
    self.now = now
  }

  /// Returns the present keys.
  package func credentials() throws -> S3Credentials {
    if let credentials = Self.keys(
      environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"],
      environment["AWS_SESSION_TOKEN"])
    {
      return credentials
    }
    if let role = environment["AWS_ROLE_ARN"], let file = environment["AWS_WEB_IDENTITY_TOKEN_FILE"] {
      return try temporary { try from(webIdentity: file, role: role) }
    }
    if let credentials = try fromFile() { return credentials }
    return try temporary(fromMetadata)
  }

  private func temporary(_ read: () throws -> Temporary) throws -> S3Credentials {
    let time = now()
    // Of several that need other keys soon, one reads them.
    let good = temporary.withLock { state -> S3Credentials? in
      guard let known = state.known, known.expires > time else { return nil }
      if known.expires - Self.margin <= time, state.nextRead <= time {
        state.nextRead = time + Self.pause
        return nil
      }
      return known.credentials
    }
    if let good { return good }
    do {
      let read = try read()
      temporary.withLock { $0 = (read, 0) }
      return read.credentials
    } catch {
      // The service that gives keys may be away for a while: the present ones are good until they expire.
      guard let known = temporary.withLock(\.known), known.expires > now() else { throw error }
      return known.credentials
    }
  }

  /// Exchanges a token, which a file has, and which others replace from time to time, for keys of a role (AWS Security Token Service API Reference,
  /// `AssumeRoleWithWebIdentity`).
  private func from(webIdentity file: String, role: String) throws -> Temporary {
    let region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
    let url = environment["AWS_ENDPOINT_URL_STS"] ?? "https://sts.\(region).amazonaws.com"
    guard let server = ServerAddress(url: url) else {
      throw Missing(description: "'\(url)' of AWS_ENDPOINT_URL_STS or AWS_REGION is no server")
    }
    let token: String
    do throws(SystemError) {
      token = String(decoding: try Descriptor(reading: file).contents(), as: UTF8.self).trimmed
    } catch {
      throw Missing(description: "the file of AWS_WEB_IDENTITY_TOKEN_FILE cannot be read: \(error)")
    }
    let fields = [
      ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
      ("RoleSessionName", environment["AWS_ROLE_SESSION_NAME"] ?? "take5"), ("WebIdentityToken", token),
    ]
    let body = fields.map { "\($0)=\(RequestSigner.encoded($1))" }.joined(separator: "&")
    let response = try HTTPClient(server: server, timeout: 10).send(
      HTTPRequest(
        "POST", "/", headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/xml")],
        body: .bytes(Array(body.utf8))))
    let document = S3Document(response.body)
    guard response.status == 200, let found = document.elements("Credentials").first,
      let keys = Self.keys(found.text("AccessKeyId"), found.text("SecretAccessKey"), found.text("SessionToken")),
      let end = found.text("Expiration").flatMap({ RFC3339.date(from: $0) })
    else {
      throw Missing(
        description:
          "\(server) gives no keys of the role \(role): status \(response.status) \(document.text("Code") ?? "")")
    }
    return Temporary(credentials: keys, expires: Int(clamping: end.microseconds / 1_000_000))
  }

  private static func keys(_ id: String?, _ secret: String?, _ token: String?) -> S3Credentials? {
    guard let id, let secret, !id.isEmpty, !secret.isEmpty else { return nil }
    return S3Credentials(keyID: id, secret: secret, sessionToken: token.flatMap { $0.isEmpty ? nil : $0 })
  }

  /// Reads the file of the AWS tools: sections of profiles with lines `name = value`.
  private func fromFile() throws -> S3Credentials? {
    let named = environment["AWS_SHARED_CREDENTIALS_FILE"]
    guard let path = named ?? environment["HOME"].map({ "\($0)/.aws/credentials" }) else { return nil }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try Descriptor(reading: path).contents() } catch {
      if named == nil { return nil }
      throw Missing(description: "the file of AWS_SHARED_CREDENTIALS_FILE cannot be read: \(error)")
    }
    let profile = environment["AWS_PROFILE"] ?? "default"
    var (section, values): (String, [String: String]) = ("", [:])
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let text = line.trimmed
      if text.hasPrefix("["), text.hasSuffix("]") {
        section = text.dropFirst().dropLast().trimmed
      } else if section == profile, let equals = text.firstIndex(of: "=") {
        values[text[..<equals].trimmed.lowercased()] = text[text.index(after: equals)...].trimmed
      }
    }
    let found = Self.keys(
      values["aws_access_key_id"], values["aws_secret_access_key"], values["aws_session_token"])
    guard found != nil || named == nil else {
      throw Missing(description: "\(path) has no keys in the profile [\(profile)]")
    }
    return found
  }

  /// The keys of the role of the machine (Amazon EC2 User Guide, "Instance metadata", version 2).
  private struct Role: Decodable {
    let AccessKeyId: String
    let SecretAccessKey: String
    let Token: String
    let Expiration: String
  }

  private func fromMetadata() throws -> Temporary {
    let client = HTTPClient(server: metadata, timeout: 2, usesProxies: false)
    do {
      let path = "/latest/meta-data/iam/security-credentials/"
      let session = try client.send(
        HTTPRequest("PUT", "/latest/api/token", headers: [("X-aws-ec2-metadata-token-ttl-seconds", "300")]))
      func get(_ path: String) throws -> [UInt8] {
        let token = String(decoding: session.body, as: UTF8.self)
        let response = try client.send(
          HTTPRequest("GET", path, headers: [("X-aws-ec2-metadata-token", token)]))
        guard response.status == 200 else { throw Missing(description: "status \(response.status) of \(path)") }
        return response.body
      }
      let name = String(decoding: try get(path), as: UTF8.self).prefix { !$0.isNewline }
      let role = try JSONDecoder().decode(Role.self, from: Data(try get(path + name)))
      let expires = try Date(role.Expiration, strategy: .iso8601).timeIntervalSince1970
      return Temporary(
        credentials: S3Credentials(
          keyID: role.AccessKeyId, secret: role.SecretAccessKey, sessionToken: role.Token), expires: Int(expires))
    } catch {
      throw Missing(
        description:
          "no keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, none in ~/.aws/credentials, and none of this machine"
      )
    }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
