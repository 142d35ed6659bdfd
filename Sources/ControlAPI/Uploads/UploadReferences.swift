internal import Blobs
internal import HTTPServer
internal import Model

/// The uploads that a submission in JSON names instead of sending files: a field of a file is `{"upload": "ID"}`, and that of
/// several is a list of these.
struct UploadReferences: Sendable {
  private(set) var ids: [SubmissionPart: [PublicID]] = [:]

  /// All uploads, each once.
  var all: Set<PublicID> { Set(ids.values.joined()) }

  /// Takes the fields of files out of a JSON object; throws a problem that names every invalid one.
  init(taking parts: [SubmissionPart], from fields: inout [String: JSONValue], maxPhotos: Int = 1) throws(Problem) {
    var errors: [FieldError] = []
    for part in parts {
      guard let value = fields.removeValue(forKey: part.rawValue), value != .null else { continue }
      let values: [JSONValue] = if case .array(let list) = value, part == .photo { list } else { [value] }
      let found = values.compactMap(Self.id)
      guard found.count == values.count, !found.isEmpty else {
        errors.append(
          FieldError(part.rawValue, #"expected {"upload": "ID"}\#(part == .photo ? " or a list of these" : "")"#))
        continue
      }
      if part == .photo, found.count > maxPhotos {
        errors.append(FieldError(part.rawValue, "has more than \(maxPhotos) photos"))
      }
      ids[part] = found
    }
    guard errors.isEmpty else { throw ProblemKind.invalid(errors) }
  }

  private static func id(_ value: JSONValue) -> PublicID? {
    guard case .object(let fields) = value, fields.count == 1, case .string(let text)? = fields["upload"] else {
      return nil
    }
    return PublicID(text)
  }
}

extension ControlAPI {
  /// Returns the content of the uploads that a submission names; throws a problem that names those that are missing, not
  /// whole or too large.
  func content(
    of references: UploadReferences, for caller: Caller, limit: (SubmissionPart) -> Int64
  ) throws -> [SubmissionPart: [SealedBlob]] {
    var content: [SubmissionPart: [SealedBlob]] = [:]
    var unready: [FieldError] = []
    for part in SubmissionPart.allCases {
      for id in references.ids[part] ?? [] {
        guard let record = try record(id, of: caller), let file = try blobs.uploads().open(id) else {
          throw ProblemKind.uploadNotFound.problem(
            "The upload \(id) does not exist.", errors: [FieldError(part.rawValue, "the upload does not exist")])
        }
        let state = try file.synchronizedState()
        guard state.isWhole else {
          let rest = record.length.map { "of \($0) " } ?? ""
          unready.append(FieldError(part.rawValue, "\(state.offset) \(rest)bytes of the upload \(id) have arrived"))
          continue
        }
        guard state.offset <= limit(part) else {
          throw MultipartError.partTooLarge(name: part.rawValue, limit: limit(part)).problem
        }
        content[part, default: []].append(try file.sealed(hash: uploadHashes.digest(of: id)))
      }
    }
    guard unready.isEmpty else {
      throw ProblemKind.uploadNotReady.problem("The submission names uploads that are not whole.", errors: unready)
    }
    return content
  }

  /// Removes uploads that a submission has used: their content is that of blobs. One that remains, because the process ends
  /// here, expires.
  func remove(_ references: UploadReferences) {
    for id in references.all {
      _ = try? blobs.uploads().remove(id)
      uploadHashes.forget(id)
    }
  }
}
