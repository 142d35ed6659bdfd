import Crypto
import MediaProcess
import Model

/// Everything that decides about the bytes of a set of outputs, besides the sources.
struct Recipe: Encodable {
  let definition: SHA256Digest
  let libraries: [String: String]
  let plan: Plan

  init(definition: SHA256Digest, plan: Plan) {
    self.definition = definition
    self.plan = plan
    libraries = LibraryVersions.current
  }
}
