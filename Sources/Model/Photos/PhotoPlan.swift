/// What is made of one photo, as plain data.
package struct PhotoPlan: Codable, Sendable, Hashable {
  package var limits: PhotoLimits
  /// By role; empty: the photo is only looked at.
  package var variants: [Role: PhotoVariant]

  package init(limits: PhotoLimits, variants: [Role: PhotoVariant]) {
    self.limits = limits
    self.variants = variants
  }

  /// The roles of the outputs, in a fixed order.
  package var outputs: [Role] { variants.keys.sorted { $0.rawValue < $1.rawValue } }
}
