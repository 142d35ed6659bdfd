import Crypto
import MediaProcess
import Model

/// Everything that decides about the bytes of a set of outputs, besides the sources.
struct Recipe<Plan: Encodable & Revised>: Encodable {
  let definition: SHA256Digest
  let libraries: [String: String]
  let plan: Plan
  /// Which bytes this program makes of a plan; nil: the first.
  let revision: Int?

  init(definition: SHA256Digest, plan: Plan) {
    self.definition = definition
    self.plan = plan
    libraries = LibraryVersions.current
    revision = Plan.revision
  }

  /// Names it: outputs of the same sources by the same recipe are the same bytes.
  var hash: SHA256Digest {
    get throws { SHA256.digest(of: try JSON.encode(self)) }
  }
}

/// A plan of which newer programs make other bytes.
protocol Revised {
  /// Grows with each change by which the same plan and sources become other bytes; nil: there was none.
  static var revision: Int? { get }
}

extension Plan: Revised {
  /// 2: the samples of copied clips have lengths instead of start codes.
  static var revision: Int? { 2 }
}

extension PhotoPlan: Revised {
  static var revision: Int? { nil }
}
