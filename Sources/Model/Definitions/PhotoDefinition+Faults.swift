extension PhotoDefinition {
  /// All that is wrong with it, in the order of its keys.
  package var faults: [DefinitionFault] {
    var faults = DefinitionFaults()
    faults.require(version, in: .version, "version")
    faults.require(deadlineSeconds, in: .deadline, "deadline_seconds")
    faults.require(Double(limits.bytes), in: .photoBytes, "limits.bytes")
    faults.require(limits.pixels, in: .cameraPixels, "limits.pixels")
    faults.require(!limits.formats.isEmpty, "limits.formats", "every photo would be refused: name a format")
    faults.require(!variants.isEmpty, "variants", "nothing would be made: name a variant")
    for (role, variant) in variants.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let path = "variants.\(role.rawValue)"
      faults.require(variant.longEdge, in: .outputEdge, "\(path).long_edge")
      faults.require(variant.square, in: .outputEdge, "\(path).square")
      faults.require(variant.maxBytes, in: .variantBytes, "\(path).most_bytes")
    }
    return faults.all
  }
}
