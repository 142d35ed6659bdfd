/// The work on one photo.
///
/// Its JSON is part of the recipe of the outputs.
package struct PhotoPlan: Codable, Sendable, Hashable {
  package var limits: PhotoLimits
  /// The variants by role; empty: the photo is only decoded and described.
  package var variants: [Role: PhotoVariant]
  /// The preview if the photo is animated; nil: none is made.
  package var preview: PhotoPreview?
  /// Whether the run makes a first look, for which it writes only the small variants; nil: it writes all.
  package var isLook: Bool?

  package init(limits: PhotoLimits, variants: [Role: PhotoVariant], preview: PhotoPreview? = nil) {
    self.limits = limits
    self.variants = variants
    self.preview = preview
  }

  /// The roles of the outputs that it makes of every photo, in a fixed order.
  package var variantRoles: [Role] {
    variants.filter { isLook != true || $0.value.isSmall }.keys.sorted { $0.rawValue < $1.rawValue }
  }

  /// The roles of the outputs, in a fixed order. The preview is the last one: a photo that is not animated has none.
  package var outputs: [Role] { variantRoles + (preview == nil ? [] : [.photoPreview]) }
}

extension PhotoDefinition {
  /// The plan for each photo.
  package var plan: PhotoPlan { PhotoPlan(limits: limits, variants: variants, preview: preview) }
}
