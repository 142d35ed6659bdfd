/// The work on one photo.
///
/// Its JSON is part of the recipe of the outputs.
package struct PhotoPlan: Codable, Sendable, Hashable {
  package var limits: PhotoLimits
  /// The variants by role; empty: the photo is only decoded and described.
  package var variants: [Role: PhotoVariant]
  /// Whether the run makes a first look, for which it writes only the small variants; nil: it writes all.
  package var isLook: Bool?

  package init(limits: PhotoLimits, variants: [Role: PhotoVariant]) {
    self.limits = limits
    self.variants = variants
  }

  /// The roles of the outputs, in a fixed order.
  package var outputs: [Role] {
    variants.filter { isLook != true || $0.value.isSmall }.keys.sorted { $0.rawValue < $1.rawValue }
  }
}

extension PhotoDefinition {
  /// The plan for each photo.
  package var plan: PhotoPlan { PhotoPlan(limits: limits, variants: variants) }
}
