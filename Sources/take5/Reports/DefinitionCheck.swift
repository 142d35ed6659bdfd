import Definitions
import Model

/// The result that `take5 definition check` prints.
struct DefinitionCheck: Encodable {
  /// The kind of a fault.
  enum FaultCode: String, Encodable {
    case notJSON = "not_json"
    case missingKey = "missing_key"
    case wrongType = "wrong_type"
    case wrongValue = "wrong_value"
    /// The key has no effect.
    case unknownKey = "unknown_key"
    /// It is a definition, but not one that a service can use in the place of the built-in one.
    case unfit

    init(_ error: any Error, in bytes: [UInt8]) {
      do { _ = try JSONTree(parsing: bytes) } catch {
        self = .notJSON
        return
      }
      if error is FaultyDefinition {
        self = .wrongValue
        return
      }
      self =
        switch error as? DecodingError {
        case .keyNotFound: .missingKey
        case .typeMismatch, .valueNotFound: .wrongType
        case .dataCorrupted: .wrongValue
        default: .unfit
        }
    }
  }

  struct Difference: Encodable {
    let path: String
    /// As JSON; nil: the key is absent.
    let builtIn: String?
    let file: String?
  }

  let file: String
  /// Whether a service uses the definition, and every key of it has an effect.
  let valid: Bool
  /// Why a service cannot use it, with the path; nil: it can.
  let fault: String?
  /// The kind of the fault, and where it is: nil if it concerns the whole.
  let code: FaultCode?
  let path: String?
  let name: String?
  let version: Int?
  let kind: Definitions.Document.Kind?
  let unused: [String]
  /// Nil: no built-in definition has this name and kind.
  let differences: [Difference]?
  /// What `--try` has made; nil: it was not asked for.
  var made: [OutputFacts]?

  init(_ file: String, _ error: any Error, in bytes: [UInt8]) {
    (self.file, valid, fault) = (file, false, JSON.reason(error))
    code = FaultCode(error, in: bytes)
    path = (error as? FaultyDefinition)?.faults.first?.path ?? JSON.path(of: error)
    (name, version, kind, unused, differences) = (nil, nil, nil, [], nil)
  }

  init(_ path: String, _ definition: DefinitionDocument, unused: [String]) throws {
    (file, valid, fault) = (path, unused.isEmpty, nil)
    (code, self.path) = (unused.isEmpty ? nil : .unknownKey, unused.first)
    (name, version, kind) = (definition.name, definition.version, definition.kind)
    self.unused = unused
    differences = try definition.builtIn.map { try DefinitionDocument($0.bytes) }.map { builtIn in
      builtIn.members.changes(to: definition.members).map { change in
        Difference(path: change.path, builtIn: change.before, file: change.after)
      }
    }
  }

  var text: String {
    if let fault { return "\(file) is no definition that a service can use: \(fault)" }
    var lines = ["\(file) defines \(name ?? "") of \(kind?.rawValue ?? ""), version \(version ?? 0)"]
    lines += unused.map { "no effect: a definition has no key \($0)" }
    lines += (made ?? []).map { output in
      "makes \(output.role.rawValue): \(output.width)x\(output.height), \(output.bytes) bytes"
    }
    guard let differences else {
      let use = kind == .clips ? ": a service takes it by --definition, not by --definitions" : ""
      return (lines + ["no built-in definition has this name\(use)"]).joined(separator: "\n")
    }
    lines.append(
      differences.isEmpty ? "it is the same as the built-in one" : "it differs from the built-in one (built-in → file):"
    )
    lines += differences.map { "  \($0.path): \($0.builtIn ?? "-") → \($0.file ?? "-")" }
    if !differences.isEmpty, !differences.contains(where: { $0.path == "version" }) {
      lines.append("its version equals the built-in one's: a higher one shows which definition made an output")
    }
    return lines.joined(separator: "\n")
  }
}
