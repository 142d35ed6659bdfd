import Crypto
import MediaProcess

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
}
