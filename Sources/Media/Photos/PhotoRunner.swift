import Kernels
package import Model
package import Platform
import Stills

/// Carries out a plan for one photo: one decode, all variants, each proven to tell of nothing but the picture.
///
/// It is synchronous and opens nothing.
package struct PhotoRunner: Sendable {
  private let plan: PhotoPlan

  package init(_ plan: PhotoPlan) { self.plan = plan }

  /// Decodes the photo and writes its variants.
  ///
  /// - Parameter outputs: an empty file for each output of the plan.
  /// - Throws: `MediaError` where nothing can be said about the photo.
  package func run(_ file: OpenFile, outputs: [Role: OpenFile]) throws(MediaError) -> PhotoReport {
    guard Set(outputs.keys) == Set(plan.outputs) else {
      throw MediaError(.invalidPlan, "the outputs do not fit the plan")
    }
    do {
      let source = try PhotoSource(file, limits: plan.limits)
      return try report(PhotoDecoder(source: source, variants: Array(plan.variants.values)).decode(), outputs)
    } catch {
      switch error {
      case .refused(let reason): return PhotoReport(reason: reason)
      case .failed(let failure): throw failure
      }
    }
  }

  private func report(_ photo: DecodedPhoto, _ outputs: [Role: OpenFile]) throws(Stop) -> PhotoReport {
    // Each of the whole, since every step costs a little sharpness; squares and the hash are too small for that to show.
    let whole = photo.picture
    var smallest = whole
    var facts: [OutputFacts] = []
    let isSquare = { (role: Role) in plan.variants[role]?.square != nil }
    for role in plan.outputs.filter({ !isSquare($0) }) + plan.outputs.filter(isSquare) {
      guard let variant = plan.variants[role], let file = outputs[role] else { continue }
      let geometry = variant.geometry(of: photo.facts.display)
      let picture: PlanarImage
      if variant.square == nil {
        picture = resized(whole, to: geometry.size, halvesChroma: variant.halvesChroma)
        if picture.width < smallest.width { smallest = picture }
      } else {
        let isEnough = min(smallest.width, smallest.height) >= Int(1.5 * Double(geometry.size.width))
        picture = square(of: isEnough ? smallest : whole, geometry, halvesChroma: variant.halvesChroma)
      }
      facts.append(try VariantWriter(role: role, variant: variant, file: file).write(picture))
    }
    let small = Size(width: smallest.width, height: smallest.height).within(longEdge: ThumbHash.longestEdge)
    let image = resized(smallest, to: small, halvesChroma: smallest.halvesChroma).image
    return PhotoReport(
      facts: photo.facts, decisions: photo.decisions, thumbhash: ThumbHash(image).base64,
      dominantColor: DominantColor(image).hexadecimal, outputs: facts)
  }

  private func resized(_ picture: PlanarImage, to size: Size, halvesChroma: Bool) -> PlanarImage {
    if picture.width == size.width, picture.height == size.height, picture.halvesChroma == halvesChroma {
      return picture
    }
    return picture.scaled(toWidth: size.width, height: size.height, halvesChroma: halvesChroma)
  }

  /// The middle of a picture that may be smaller than the photo already.
  private func square(
    of picture: PlanarImage, _ geometry: PhotoGeometry, halvesChroma: Bool
  ) -> PlanarImage {
    let edge = min(picture.width, picture.height)
    let crop = (x: (picture.width - edge) / 4 * 2, y: (picture.height - edge) / 4 * 2, width: edge, height: edge)
    let target = min(geometry.size.width, edge)
    return picture.scaled(toWidth: target, height: target, crop: crop, halvesChroma: halvesChroma)
  }
}
