import FoundationEssentials
import HTTPTesting
import Model
import Testing

/// The HTTP interface of a service, as an app's back-end speaks it.
struct API: Sendable {
  let port: UInt16

  /// An answer: its status, and its body as JSON.
  struct Answer: Sendable {
    let response: ClientResponse

    var status: Int { response.status }

    /// What the body holds at a path of keys and places; nil if there is nothing, or null.
    subscript(_ path: Step...) -> Value? {
      guard let root = try? JSONDecoder().decode(Value.self, from: Data(response.body)) else { return nil }
      var value: Value? = root
      for step in path { value = value?[step] }
      return value == .null ? nil : value
    }
  }

  /// A step into JSON.
  enum Step: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
    case key(String)
    case place(Int)

    init(stringLiteral key: String) { self = .key(key) }
    init(integerLiteral place: Int) { self = .place(place) }
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
      case (.place(let place), .array(let items)) where items.indices.contains(place): items[place]
      default: nil
      }
    }
  }

  func get(_ path: String, _ headers: [(String, String)] = []) async throws -> Answer {
    Answer(response: try await request("GET", path, port: port, headers: headers))
  }

  func delete(_ path: String) async throws -> Int { try await request("DELETE", path, port: port).status }

  /// Sends JSON.
  func send(_ method: String, _ path: String, _ json: String) async throws -> Answer {
    let headers = [("Content-Type", "application/json")]
    return Answer(response: try await request(method, path, port: port, headers: headers, body: Array(json.utf8)))
  }

  /// Submits media, and waits until they are ready.
  func submit(
    _ path: String, _ parts: [(name: String, bytes: [UInt8])], method: String = "POST",
    headers: [(String, String)] = [("Prefer", "wait=60")]
  ) async throws -> Answer {
    let form = Self.form(parts)
    let all = headers + [("Content-Type", form.contentType)]
    return Answer(response: try await request(method, path, port: port, headers: all, body: form.bytes))
  }

  /// A form whose parts are files, but for JSON and words.
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
  /// Its HTTP interface.
  func api() throws -> API { API(port: try #require(UInt16(url.split(separator: ":").last ?? ""))) }
}
