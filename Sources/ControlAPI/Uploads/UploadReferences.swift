internal import Blobs
import FoundationEssentials
internal import HTTPServer
internal import ISOBaseMedia
internal import Model
internal import Store
internal import Telemetry

/// The uploads that a submission in JSON names instead of sending files: a field of a file is `{"upload": "ID"}`, and that of
/// several is a list of these.
struct UploadReferences: Sendable {
  private(set) var ids: [SubmissionPart: [PublicID]] = [:]

  /// All uploads, in the order of the parts.
  var all: [AwaitedUpload] {
    SubmissionPart.allCases.flatMap { part in
      (ids[part] ?? []).map { AwaitedUpload(upload: $0, part: part.rawValue) }
    }
  }

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
  case whole([SubmissionPart: [JudgedFile]])
  /// Bytes of some are still to come.
  case awaited([AwaitedUpload], unready: [FieldError])
  /// One of them does not exist. An earlier request with the same idempotency key may have used it.
  case missing(Problem)
}

extension LocalUploads {
  /// Looks up the uploads that a submission names; throws a problem if one is too large or was refused as it arrived.
  ///
  /// - Parameter accepting: what the file of a part may be.
  func content(
    of references: UploadReferences, for caller: Caller, accepting: (SubmissionPart) -> AcceptedMedia
  ) throws -> ReferredContent {
    var content: [SubmissionPart: [JudgedFile]] = [:]
    var unready: [FieldError] = []
    for part in SubmissionPart.allCases {
      for id in references.ids[part] ?? [] {
        guard let record = try record(id, of: caller), record.finished == nil,
          let file = try folder().open(id)
        else {
          return .missing(
            ProblemKind.uploadNotFound.problem(
              "The upload \(id) does not exist.", errors: [FieldError(part.rawValue, "the upload does not exist")]))
        }
        if let reason = record.refusal { throw reason.problem }
        let (state, accepted) = (try file.synchronizedState(), accepting(part))
        guard max(state.offset, record.length ?? 0) <= accepted.maxBytes else {
          throw MultipartError.partTooLarge(name: part.rawValue, limit: accepted.maxBytes).problem
        }
        guard state.isWhole else {
          let rest = record.length.map { "of \($0) " } ?? ""
          unready.append(FieldError(part.rawValue, "\(state.offset) \(rest)bytes of the upload \(id) have arrived"))
          continue
        }
        content[part, default: []].append(
          try JudgedFile(file.sealed(hash: contents.hash(of: id)), accepting: accepted))
      }
    }
    return unready.isEmpty ? .whole(content) : .awaited(references.all, unready: unready)
  }

  /// Records in the uploads that a post awaits them, so that the last byte of the last one starts its job.
  func register(_ uploads: [AwaitedUpload], awaitedBy post: PublicID) throws {
    for awaited in uploads {
      let record = try folder().update(awaited.upload) { $0.awaited = .init(post: post, part: awaited.part) }
      if let record { openUploads.update(record) }
    }
    // The last byte may have come before the record said so.
    awaitingPosts.reconsider(post)
  }

  /// Removes the bytes of uploads that a post has awaited: its client may still ask whether all have arrived.
  func finish(_ uploads: [PublicID]) {
    for id in uploads {
      do { try folder().finish(id, now: .now) } catch {
        log.warning("the bytes of an upload remain until it expires", ["upload": "\(id)", "error": "\(error)"])
      }
      openUploads.remove(id)
    }
  }

  /// Removes uploads that a submission has used: their content is that of blobs. One that remains, because the process ends
  /// here, expires.
  func remove(_ uploads: [PublicID]) {
    for id in uploads {
      // try?: what remains expires.
      _ = try? folder().remove(id)
      contents.forget(id)
      openUploads.remove(id)
    }
  }
}
