extension PhotoDefinition {
  /// All that is wrong with it, in the order of its keys.
  package var faults: [DefinitionFault] {
    var faults = DefinitionFaults()
    faults.require(version, in: .version, "version")
    faults.require(deadlineSeconds, in: .deadline, "deadline_seconds")
    faults.require(Double(limits.bytes), in: .photoBytes, "limits.bytes")
    faults.require(limits.pixels, in: .cameraPixels, "limits.pixels")
    if let headerPixels = limits.headerPixels {
      // Half of what an eighth of both edges would allow: those are rounded up.
      let most = limits.pixels.multipliedReportingOverflow(by: PhotoLimits.maxReduction * PhotoLimits.maxReduction / 2)
      faults.require(
        headerPixels >= limits.pixels && (most.overflow || headerPixels <= most.partialValue), "limits.header_pixels",
        "expected at least 'pixels', \(limits.pixels), and at most 32 times as many: a JPEG is decoded at an eighth of its edges "
          + "or more")
    }
    faults.require(!limits.formats.isEmpty, "limits.formats", "every photo would be refused: name a format")
    faults.require(!variants.isEmpty, "variants", "nothing would be made: name a variant")
    for (role, variant) in variants.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let path = "variants.\(role.rawValue)"
      faults.require(variant.longEdge, in: .outputEdge, "\(path).long_edge")
      faults.require(variant.square, in: .outputEdge, "\(path).square")
      faults.require(variant.maxBytes, in: .variantBytes, "\(path).most_bytes")
    }
    if let preview {
      faults.require(
        PhotoPreview.formats.contains(where: limits.formats.contains), "preview",
        "no photo would have one: 'limits.formats' needs \(PhotoPreview.formats.map(\.rawValue).joined(separator: " or "))"
      )
      faults.require(preview.longEdge, in: .animationEdge, "preview.long_edge")
    }
    return faults.all
  }
}
