import FoundationEssentials
import HTTPTesting
import Model
import Testing
import WaitTesting

/// A client of the HTTP API: an app's back-end, or the phone of a user.
struct API: Sendable {
  let port: UInt16
  /// The user of the phone; nil: a back-end.
  private(set) var user: String?
  /// The header fields of each request.
  private var credential: [(String, String)] = []

  /// - Parameter key: the API key of the back-end; nil: the service has none.
  init(port: UInt16, key: String? = nil) {
    self.port = port
    if let key { credential = [("Authorization", "Bearer \(key)")] }
  }

  /// The phone of a user, with a token that this back-end mints, and with a profile.
  func phone(of user: String) async throws -> API {
    let minted = try await send("POST", "/v1/users/\(user)/tokens", "{}")
    var phone = self
    phone.user = user
    phone.credential = [("Authorization", "Bearer \(try #require(minted["token"]?.text))")]
    #expect(try await phone.send("PUT", "/v1/users/\(user)", #"{"user_name":"\#(user)"}"#).status == 200)
    return phone
  }

  /// A response with its body as JSON.
  struct Response: Sendable {
    let response: ClientResponse

    var status: Int { response.status }

    /// The value at a path of keys and indexes; nil if it is absent or null.
    subscript(_ path: Step...) -> Value? {
      guard let root = try? JSONDecoder().decode(Value.self, from: Data(response.body)) else { return nil }
      var value: Value? = root
      for step in path { value = value?[step] }
      return value == .null ? nil : value
    }
  }

  /// A key of a JSON object or an index of a JSON array.
  enum Step: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
    case key(String)
    case index(Int)

    init(stringLiteral key: String) { self = .key(key) }
    init(integerLiteral index: Int) { self = .index(index) }
  }

  /// Any JSON value.
  indirect enum Value: Decodable, Sendable, Hashable {
    case null, boolean(Bool), number(Double), string(String), array([Value]), object([String: Value])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .boolean(value)
      } else if let value = try? container.decode(Double.self) {
        self = .number(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else if let value = try? container.decode([Value].self) {
        self = .array(value)
      } else {
        self = .object(try container.decode([String: Value].self))
      }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Int? { if case .number(let number) = self { Int(number) } else { nil } }
    var items: [Value] { if case .array(let items) = self { items } else { [] } }

    subscript(_ step: Step) -> Value? {
      switch (step, self) {
      case (.key(let key), .object(let members)): members[key]
      case (.index(let index), .array(let items)) where items.indices.contains(index): items[index]
      default: nil
      }
    }
  }

  func get(_ path: String, _ headers: [(String, String)] = []) async throws -> Response {
    Response(response: try await request("GET", path, port: port, headers: credential + headers))
  }

  func delete(_ path: String) async throws -> Int { try await send("DELETE", path).status }

  /// Sends JSON, or a request without a body.
  func send(
    _ method: String, _ path: String, _ json: String? = nil, version: String? = nil
  ) async throws -> Response {
    let headers = credential + (json == nil ? [] : [("Content-Type", "application/json")])
    return Response(
      response: try await request(
        method, path, port: port, headers: headers + (version.map { [("If-Match", $0)] } ?? []),
        body: json.map { Array($0.utf8) }))
  }

  func befriend(_ other: API) async throws {
    let (one, another) = (try #require(user), try #require(other.user))
    _ = try await send("PUT", "/v1/users/\(one)/friends/\(another)")
    #expect(try await other.send("PUT", "/v1/users/\(another)/friends/\(one)")["state"]?.text == "established")
  }

  /// Submits media and, by default, waits until they are processed.
  func submit(
    _ path: String, _ parts: [(name: String, bytes: [UInt8])], method: String = "POST",
    headers: [(String, String)] = [("Prefer", "wait=60")]
  ) async throws -> Response {
    let form = Self.form(parts)
    let all = credential + headers + [("Content-Type", form.contentType)]
    var response = Response(response: try await request(method, path, port: port, headers: all, body: form.bytes))
    guard response.status == 202, headers.contains(where: { $0.0 == "Prefer" }),
      let location = response.response.headers["location"]
    else { return response }
    // A busy machine takes longer than one request waits.
    let deadline = Deadline("the end of the job", within: .seconds(300))
    while response["status"]?.text == "processing", let job = response["job", "url"]?.text {
      try deadline.check()
      _ = try await get("\(job)?wait=60")
      response = try await get(location)
    }
    return response
  }

  /// A form in which media parts have file names and other parts do not.
  static func form(_ parts: [(name: String, bytes: [UInt8])]) -> MultipartForm {
    var form = MultipartForm()
    for part in parts {
      let isField = !["front", "back", "photo", "image", "video"].contains(part.name)
      form.add(part.name, filename: isField ? nil : "file", part.bytes)
    }
    return form
  }
}

extension Service {
  /// A client of its API.
  func api(key: String? = nil) throws -> API {
    API(port: try #require(UInt16(url.split(separator: ":").last ?? "")), key: key)
  }
}

/// The fields of a post that tests read.
struct PostResponse: Decodable {
  struct Asset: Decodable {
    let url: String
    let type: String
    let bytes: Int
    let width: Int?
    let height: Int?
    let duration: Double?
    let thumbhash: String?
  }

  struct Job: Decodable {
    let id: PublicID
    let state: JobState
    let progress: Double
    let url: String
  }

  let id: PublicID
  let kind: String
  let status: PostStatus
  let author: String
  let caption: String?
  let foreground: Camera
  let job: Job?
  let reasons: [Reason]
  let assets: [Role: Asset]
}

/// The fields of a job that tests read.
struct JobResponse: Decodable {
  let attempt: Int
}

/// The fields of an error response that tests read (RFC 9457).
struct ProblemResponse: Decodable {
  let status: Int
  let reasons: [Reason]?
}
