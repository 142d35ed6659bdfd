import Crypto
import MediaProcess
import Model

/// Everything that decides about the bytes of a set of outputs, besides the sources.
struct Recipe<Plan: Encodable>: Encodable {
  let definition: SHA256Digest
  let libraries: [String: String]
  let plan: Plan

  init(definition: SHA256Digest, plan: Plan) {
    self.definition = definition
    self.plan = plan
    libraries = LibraryVersions.current
  }
  /// Names it: outputs of the same sources by the same recipe are the same bytes.
  var hash: SHA256Digest {
    get throws { SHA256.digest(of: try JSON.encode(self)) }
  }
}
