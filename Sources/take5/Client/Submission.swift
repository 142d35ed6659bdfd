import Crypto
import HTTPClient
import Model
import Platform

/// A submission to a service: its request, and the files that it names.
struct Submission: Sendable {
  let method: String
  let path: String
  let fields: any Encodable & Sendable
  let files: [SubmittedFile]
  let resource: MediaResource

  static func post(_ draft: PostDraft, _ files: [SubmittedFile]) -> Submission {
    Submission(method: "POST", path: "/v1/posts", fields: draft, files: files, resource: .post)
  }

  /// The JSON that names the uploads, one for each file.
  func body(naming uploads: [PublicID]) throws -> [UInt8] {
    try JSON.encode(SubmissionBody(fields: fields, uploads: Array(zip(files.map(\.field), uploads))))
  }

  /// Percent-encodes a name as a segment of a path (RFC 3986, section 2.1).
  static func escaped(_ name: String) -> String {
    name.utf8.map { byte in
      let isPlain =
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-._~".utf8.contains(byte)
      if isPlain { return String(UnicodeScalar(byte)) }
      let hex = String(byte, radix: 16, uppercase: true)
      return "%" + (hex.count == 1 ? "0" + hex : hex)
    }.joined()
  }

  /// Submits the media, waits and saves if the options ask for it, and prints the result.
  func run(_ arguments: Arguments) async throws -> ExitStatus {
    let service = try ServiceClient(arguments)
    let folder = arguments.value("--save").map { path in
      SavedMedia(
        folder: path, replacing: arguments.has(Option.force.name), inputs: Set(files.map(\.identity)))
    }
    // Before anything is sent: the results may come minutes later.
    try folder?.check(fileNames)
    let media = try await service.submit(self, key: "\(PublicID.now())")
    return try await StoredMedia(
      service: service, resource: resource, id: media.id,
      waits: arguments.has("--wait") || arguments.has("--explain") || folder != nil, folder: folder,
      arguments: arguments
    ).finish(media)
  }
}

/// The JSON of a submission: its fields, and the uploads by the names of their fields.
private struct SubmissionBody: Encodable {
  /// The field that may name several uploads.
  private static let list = "photo"

  let fields: any Encodable
  let uploads: [(field: String, id: PublicID)]

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    try fields.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    let references = Dictionary(grouping: uploads, by: \.field).mapValues { $0.map { ["upload": $0.id] } }
    for (field, named) in references {
      let key = Key(stringValue: field)
      if field == Self.list {
        try container.encode(named, forKey: key)
      } else {
        try container.encode(named[0], forKey: key)
      }
    }
  }
}

/// A file of a submission, which is read while it is sent.
struct SubmittedFile: Sendable {
  /// The field of the submission that names its upload.
  let field: String
  /// Its length in bytes when it was opened.
  let length: Int64
  let identity: FileIdentity
  private let path: String
  private let file: OpenFile

  /// Opens a file that the command line names. It must be regular: it is read again from where the connection was lost.
  init(_ field: String, path: String) throws(CommandFailure) {
    identity = try InputFile(.clip, path: path).identity
    self.field = field
    self.path = path
    do throws(SystemError) {
      file = OpenFile(try Descriptor(reading: path))
      length = try file.descriptor.size()
    } catch {
      throw CommandFailure(
        .inputMissing, "\(path) cannot be read: \(error.reason)",
        remedy: "check the path and the permissions of the file")
    }
  }

  /// The digest of its content.
  func digest() throws -> SHA256Digest { try SHA256.digest(of: file.descriptor) }

  /// Its bytes from an offset, as the body of a request.
  func body(from offset: Int64) -> HTTPRequest.Body {
    .file(file, path: path, range: min(offset, length)..<length)
  }
}
