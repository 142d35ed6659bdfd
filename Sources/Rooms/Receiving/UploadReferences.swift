internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// The uploads that a submission in JSON names instead of sending files: a field of a file is `{"upload": "ID"}`, and that of
/// several is a list of these.
struct UploadReferences: Sendable {
  private(set) var ids: [MediaPart: [PublicID]] = [:]

  /// All uploads, in the order of the parts.
  var all: [AwaitedUpload] {
    MediaPart.allCases.flatMap { part in
      (ids[part] ?? []).map { AwaitedUpload(upload: $0, part: part.rawValue) }
    }
  }

  /// Takes the fields of files out of a JSON object; throws a problem that names every invalid one.
  init(taking parts: [MediaPart], from fields: inout [String: JSONValue], maxPhotos: Int = 1) throws(Problem) {
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
        errors.append(FieldError(part.rawValue, "has more than \(CountText.text(maxPhotos, "photo"))"))
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

/// The uploads that a submission names, as they are now.
enum ReferredContent: Sendable {
  case whole([MediaPart: [JudgedFile]])
  /// Bytes of some are still to come.
  case awaited([AwaitedUpload], unready: [FieldError])
  /// One of them does not exist. An earlier request with the same idempotency key may have used it.
  case missing(Problem)
}
