import Foundation

/// A submission in the queue, as its file of JSON has it.
struct UploadRecord: Sendable, Codable, Equatable {
  /// A file of the submission.
  struct File: Sendable, Codable, Equatable {
    /// The part of the submission: `front`, `back`, `photo`, `image`, `video`.
    var part: String
    /// Its name in the folder of the record.
    var name: String
    var length: Int64
    /// The id of its upload, once that is created.
    var upload: String?
    /// What the service has of it.
    var offset: Int64 = 0
    var isWhole: Bool = false
  }

  var id: UUID
  /// Who submits it: it is never sent as another user.
  var user: String
  var createdAt: Date
  /// The post that a reaction is to; nil: the submission is a post.
  var post: String?
  /// The fields of the submission.
  var fields: [String: JSONValue]
  var files: [File]
  /// The Idempotency-Key of all attempts.
  var key: String
  /// The id of the post or the image, once it is submitted.
  var result: String?
  /// Why it is not sent any more.
  var failure: Problem?
  /// How often it began from the start, because the service had removed what it had of it.
  var restarts = 0

  /// Posts are submitted before their bytes are sent, so that a refusal costs nothing; the uploads of an image must be whole.
  var isSubmittedFirst: Bool { post == nil }
  var length: Int64 { files.reduce(0) { $0 &+ $1.length } }
  var sent: Int64 { files.reduce(0) { $0 &+ $1.offset } }

  /// Whether a queue can have these numbers: another program may have changed the file.
  var isSound: Bool { files.allSatisfy { $0.length >= 0 && $0.offset >= 0 && $0.offset <= $0.length } }

  /// What the submission sends, with the ids of its uploads.
  var body: JSONValue {
    var members = fields
    for file in files {
      guard let upload = file.upload else { continue }
      let reference: JSONValue = ["upload": .string(upload)]
      if file.part == "photo", case .array(let others)? = members["photo"] {
        members["photo"] = .array(others + [reference])
      } else {
        members[file.part] = file.part == "photo" ? [reference] : reference
      }
    }
    return .object(members)
  }

  /// Begins from the start: another submission with other uploads.
  mutating func restart() {
    for index in files.indices { (files[index].upload, files[index].offset, files[index].isWhole) = (nil, 0, false) }
    (result, failure, key) = (nil, nil, UUID().uuidString)
    restarts += 1
  }
}
