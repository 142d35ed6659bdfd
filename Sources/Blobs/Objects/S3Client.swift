internal import Crypto
import FoundationEssentials
import Glibc
internal import HTTPClient
import Model
import Platform

/// An error of an object store.
struct S3Error: Error, Sendable, CustomStringConvertible {
  /// The status of the response; nil: there was none.
  let status: Int?
  /// The code of the store, such as `NoSuchKey`; empty if there is none.
  let code: String
  let description: String

  var isMissing: Bool { status == 404 && code != "NoSuchBucket" }

  /// Whether no repetition mends it.
  let isRefusal: Bool

  init(status: Int?, code: String, description: String, isRefusal: Bool = false) {
    self.status = status
    self.code = code
    self.description = description
    self.isRefusal = isRefusal
  }
}

/// Requests to an S3-compatible store, which are signed, and repeated if the store or the network fails. All calls block.
package final class S3Client: Sendable {
  /// What bounds the repetition of requests.
  package struct Retries: Sendable {
    /// The number of attempts of a request.
    package var attempts = 8
    /// The time before the second attempt, which doubles with each further one.
    package var firstPause = Duration.milliseconds(100)
    package var maxPause = Duration.seconds(5)
    /// The number of repetitions that a client may have ahead of its successes: each costs one, and ten requests that succeed
    /// give one back. A store that fails for long then gets one request for one, not eight.
    package var budget = 100.0
    /// The time without a byte after which the reading of an object fails, and another request, in seconds. A store that does not
    /// reply is asked twice.
    package var readSeconds = 10
    package var otherSeconds = 30
    package var sleep: @Sendable (Duration) -> Void = { pause in
      usleep(UInt32(clamping: Int(pause / .microseconds(1))))
    }

    package init() {}

    /// The pause before an attempt: half of it is random, so that clients which failed together do not come back together.
    func pause(before attempt: Int) -> Duration {
      let full = min(maxPause, firstPause * (1 << min(attempt - 1, 20)))
      return full / 2 + full / 2 * Double.random(in: 0...1)
    }
  }

  package let location: S3Location
  /// The origin of the URLs of objects (RFC 6454).
  package var origin: String { "\(location.server)" }
  private let credentials: @Sendable () throws -> S3Credentials
  private let client: HTTPClient
  private let retries: Retries
  /// The repetitions that are left.
  private let budget: Locked<Double>
  private let now: @Sendable () -> Int
  /// The length of the parts of an object that is longer; stores want five MiB at least.
  let partBytes: Int64
  /// The time after which the writer of an upload in parts has ended.
  let uploadSeconds: Int
  private let onExchange: @Sendable (S3Exchange) -> Void
  /// What the clock of the store is ahead of this machine's, in seconds.
  private let skew = Locked(0)
  /// The last write that the store has refused for a reason that no repetition mends; nil: it accepted one since.
  private let refusedWrite = Locked<(error: S3Error, at: ContinuousClock.Instant)?>(nil)
  /// The time for which a refused write counts, in which others may try.
  private static let refusalLifetime = Duration.seconds(300)
  /// Whether the store has conditional writes, as far as is known.
  private let hasConditions = Locked(true)

  /// - Parameters:
  ///   - credentials: returns the present keys.
  ///   - partBytes: the length above which an object is written in parts, and the length of a part.
  ///   - uploadSeconds: the time after which the parts of an upload that has not ended are abandoned.
  ///   - now: returns the time in seconds since 1970-01-01 UTC.
  ///   - onExchange: called after each request, on the thread that has sent it.
  package init(
    _ location: S3Location, credentials: @escaping @Sendable () throws -> S3Credentials, certificates: String? = nil,
    retries: Retries = Retries(), partBytes: Int64 = 16 << 20, uploadSeconds: Int = 24 * 60 * 60,
    now: @escaping @Sendable () -> Int = { time(nil) },
    onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in }
  ) {
    self.location = location
    self.credentials = credentials
    client = HTTPClient(server: location.server, certificates: certificates)
    self.retries = retries
    budget = Locked(retries.budget)
    self.partBytes = partBytes
    self.uploadSeconds = uploadSeconds
    self.now = now
    self.onExchange = onExchange
  }

  private static let emptyHash = SHA256.digest(of: []).hex
  /// The timeout of a request that is sent once, in seconds.
  private static let hastyTimeout = 5

  /// Writes an object from bytes of a file.
  ///
  /// A store without conditional writes writes an object that exists again: use `onlyNew` only where that does no harm.
  ///
  /// - Parameters:
  ///   - hash: the SHA-256 of the bytes, which the store verifies.
  ///   - onlyNew: whether an object that exists does not change.
  /// - Returns: whether the object was written.
  @discardableResult
  func put(_ key: String, _ file: OpenFile, bytes: Int64, hash: SHA256Digest, onlyNew: Bool) throws -> Bool {
    let isConditional = onlyNew && hasConditions.withLock(\.self)
    let headers = isConditional ? [("If-None-Match", "*")] : []
    do {
      if bytes > partBytes {
        try putParts(key, file, bytes: bytes, hash: hash, headers: headers)
      } else {
        _ = try send(
          "PUT", key, headers: headers + location.keeping, body: .file(file, path: key, range: 0..<bytes),
          hash: hash.hex)
      }
      return true
    } catch let error as S3Error where isConditional && error.status == 412 {
      return false
    } catch let error as S3Error where isConditional && error.status == 501 {
      hasConditions.withLock { $0 = false }
      return try put(key, file, bytes: bytes, hash: hash, onlyNew: false)
    }
  }

  /// Writes a small object; with `onlyNew`, one that exists does not change if the store has conditional writes.
  func put(_ key: String, _ bytes: [UInt8], onlyNew: Bool = false) throws {
    let headers = onlyNew && hasConditions.withLock(\.self) ? [("If-None-Match", "*")] : []
    do {
      _ = try send(
        "PUT", key, headers: headers + location.keeping, body: .bytes(bytes), hash: SHA256.digest(of: bytes).hex)
    } catch let error as S3Error where !headers.isEmpty && error.status == 412 {
      return
    } catch let error as S3Error where !headers.isEmpty && error.status == 501 {
      hasConditions.withLock { $0 = false }
      try put(key, bytes)
    }
  }

  /// Writes an object into a file, from its beginning.
  ///
  /// - Parameter file: the number of its descriptor.
  func get(_ key: String, into file: Int32) throws {
    _ = try send("GET", key, into: file)
  }

  /// Reads a small object.
  ///
  /// - Parameter isCheck: whether the store is asked once, and not again if it fails.
  func get(_ key: String, isCheck: Bool = false) throws -> [UInt8] {
    try send("GET", key, attempts: isCheck ? 1 : nil).body
  }

  /// Returns the length of an object; nil if it does not exist.
  ///
  /// - Parameter isHasty: whether the store is asked once, for a short time.
  func length(of key: String, isHasty: Bool = false) throws -> Int64? {
    do {
      let response = try send("HEAD", key, isHasty: isHasty)
      guard let length = response.headers["content-length"].flatMap({ Int64($0) }) else {
        throw unreadable("the length of \(key)", response)
      }
      return length
    } catch let error as S3Error where error.isMissing {
      return nil
    }
  }

  /// Removes an object, whether it exists or not. The store is asked once, for a short time: the caller says how late it may be removed.
  func remove(_ key: String) throws {
    do { _ = try send("DELETE", key, isHasty: true) } catch let error as S3Error where error.isMissing {}
  }

  /// Lists the objects whose keys begin with a text, with their lengths and the times of their writing.
  func list(_ prefix: String, _ each: (_ key: String, _ bytes: Int64, _ time: Date) -> Void) throws {
    var token: String?
    repeat {
      var query = [("list-type", "2"), ("prefix", prefix), ("encoding-type", "url")]
      if let token { query.append(("continuation-token", token)) }
      let response = try send("GET", "", query: query)
      let page = S3Document(response.body)
      // A body that is no list is not an empty one.
      guard page.isOf("ListBucketResult") else { throw unreadable("a list", response) }
      for object in page.elements("Contents") {
        guard let key = object.text("Key").flatMap({ S3Document.decoded($0) }),
          let bytes = object.text("Size").flatMap({ Int64($0) }),
          let time = object.text("LastModified").flatMap({ RFC3339.date(from: $0) })
        else { throw unreadable("a list", response) }
        each(key, bytes, time)
      }
      token = page.text("NextContinuationToken")
      let isTruncated = page.text("IsTruncated") == "true"
      guard !isTruncated || token != nil else { throw unreadable("a list", response) }
      if !isTruncated { token = nil }
    } while token != nil
  }

  func unreadable(_ what: String, _ response: HTTPResponse) -> S3Error {
    S3Error(
      status: response.status, code: "",
      description: "\(location): the store has sent \(what) in a form that cannot be read (status \(response.status))")
  }

  /// Returns the URL at which anybody reads an object for a time.
  func signedURL(_ key: String, query: [(name: String, value: String)], seconds: Int) throws -> String {
    let signer = RequestSigner(credentials: try credentials(), region: location.region)
    let path = location.path(of: key)
    let signed = signer.presigned(
      path: path, query: query, host: location.server.authority, seconds: seconds,
      at: SigningTime(seconds: storeSeconds()))
    return "\(location.server)\(path)?\(signed)"
  }

  // MARK: Requests

  func send(
    _ method: String, _ key: String, query: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = [], body: HTTPRequest.Body = .none, hash: String = S3Client.emptyHash,
    into file: Int32? = nil, attempts: Int? = nil, isHasty: Bool = false
  ) throws -> HTTPResponse {
    CriticalSection.mayWait("\(method) \(key)")
    let isRead = method == "HEAD" || method == "GET" && !key.isEmpty
    let timeout = isHasty ? Self.hastyTimeout : isRead ? retries.readSeconds : retries.otherSeconds
    var (attempt, silent) = (1, 0)
    while true {
      let start = ContinuousClock.now
      let result = try attemptOnce(
        method, key, query: query, headers: headers, body: body, hash: hash, timeout: timeout, into: file)
      switch result {
      case .success(let response):
        budget.withLock { $0 = min($0 + 0.1, retries.budget) }
        return response
      case .failure(let error):
        if error.status == nil, start.duration(to: .now) >= .seconds(timeout) { silent += 1 }
        guard !isHasty, attempt < attempts ?? retries.attempts, silent < 2, spend() else { throw error }
      }
      attempt += 1
      retries.sleep(retries.pause(before: attempt))
    }
  }

  /// Takes a repetition from the budget; false if there is none.
  private func spend() -> Bool {
    budget.withLock { left in
      guard left >= 1 else { return false }
      left -= 1
      return true
    }
  }

  /// Sends a request once; returns the error if the request may be repeated, and throws others.
  private func attemptOnce(
    _ method: String, _ key: String, query: [(name: String, value: String)], headers: [(name: String, value: String)],
    body: HTTPRequest.Body, hash: String, timeout: Int, into file: Int32?
  ) throws -> Result<HTTPResponse, S3Error> {
    let request = try signed(method, key, query: query, headers: headers, body: body, hash: hash, timeout: timeout)
    let response: HTTPResponse
    let start = ContinuousClock.now
    do throws(HTTPClientError) {
      if let file {
        // What an attempt before has written.
        guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else {
          throw HTTPClientError("\(SystemError(call: "ftruncate"))")
        }
        response = try client.send(request, into: Descriptor(owning: dup(file)))
      } else {
        response = try client.send(request)
      }
    } catch {
      onExchange(S3Exchange(method, key, nil, since: start))
      let failure = S3Error(status: nil, code: "", description: "\(location): \(error.cause)")
      switch error.kind {
      case .unreachable, .lost: return .failure(failure)
      case .aborted, .other: throw failure
      }
    }
    // An object may contain anything; the store itself writes all other bodies.
    let isObject = method == "GET" && !key.isEmpty
    let status = isObject ? response.status : S3Document(response.body).status(of: response.status)
    guard 200..<300 ~= status else {
      let code = S3Document(response.body).text("Code") ?? ""
      let isRepeated = repeats(status, code, response)
      let refusal = refusal(response, status, code, method, key, isRepeated: isRepeated)
      let exchange = S3Exchange(method, key, status, isRepeated ? nil : "\(status) \(code)", since: start)
      onExchange(exchange)
      if refusal.isRefusal, Self.writes.contains(method) {
        refusedWrite.withLock { $0 = (refusal, exchange.end) }
      }
      guard isRepeated else { throw refusal }
      return .failure(refusal)
    }
    onExchange(S3Exchange(method, key, status, since: start))
    if Self.writes.contains(method) { refusedWrite.withLock { $0 = nil } }
    return .success(response)
  }

  /// What makes objects. A store that keeps each object for some time refuses to delete one, and takes others.
  private static let writes: Set = ["PUT", "POST"]

  /// Why the store has refused the last write, if it was a short time ago.
  var writeRefusal: S3Error? {
    refusedWrite.withLock(\.self).flatMap { $0.at + Self.refusalLifetime > .now ? $0.error : nil }
  }

  private func signed(
    _ method: String, _ key: String, query: [(name: String, value: String)], headers: [(name: String, value: String)],
    body: HTTPRequest.Body, hash: String, timeout: Int
  ) throws -> HTTPRequest {
    let signer = RequestSigner(credentials: try credentials(), region: location.region)
    let path = location.path(of: key)
    let parts = RequestSigner.Parts(method: method, path: path, query: query, headers: headers, bodyHash: hash)
    let time = SigningTime(seconds: storeSeconds())
    let all = signer.signed(parts, host: location.server.authority, at: time)
    let text = query.isEmpty ? path : "\(path)?\(RequestSigner.canonical(query))"
    return HTTPRequest(method, text, headers: all, body: body, timeout: timeout)
  }

  /// The time of the store as far as is known, in seconds since 1970-01-01 UTC.
  func storeSeconds() -> Int { now() + skew.withLock(\.self) }

  /// The store refuses one object, and not all requests.
  private static let codesOfObjects: Set = [
    "BadDigest", "EntityTooLarge", "EntityTooSmall", "IncompleteBody", "InvalidDigest", "InvalidPart",
    "InvalidPartOrder", "KeyTooLongError",
  ]

  /// - Parameter status: what the response says in the end.
  private func refusal(
    _ response: HTTPResponse, _ status: Int, _ code: String, _ method: String, _ key: String, isRepeated: Bool
  ) -> S3Error {
    let message = S3Document(response.body).text("Message") ?? ""
    let detail = [code, message].filter { !$0.isEmpty }.joined(separator: ", ")
    return S3Error(
      status: status, code: code,
      description: "\(location): \(method) \(key): status \(response.status)\(detail.isEmpty ? "" : " (\(detail))")",
      isRefusal: !isRepeated && (400..<500).contains(status) && status != 404 && status != 412
        && !Self.codesOfObjects.contains(code))
  }

  /// Whether a request that got a response may succeed if it is repeated.
  private func repeats(_ status: Int, _ code: String, _ response: HTTPResponse) -> Bool {
    // The clock of this machine is wrong: the next attempt goes by the clock of the store.
    if code == "RequestTimeTooSkewed", let date = response.headers["date"], let seconds = HTTPDate.seconds(date) {
      return skew.withLock { skew in
        let found = seconds - now()
        defer { skew = found }
        return abs(found - skew) > 60
      }
    }
    return status >= 500 && status != 501 || status == 429 || status == 408 || code == "SlowDown"
      || code == "RequestTimeout" || code == "OperationAborted" || code == "ConditionalRequestConflict"
  }
}
