import Kernels
package import Model
package import Platform
import Stills

/// Runs a plan for one photo: decodes it, writes every variant, and of an animation the preview, and checks each for identifying metadata.
///
/// It is synchronous and opens no file.
package struct PhotoRunner: Sendable {
  private let plan: PhotoPlan

  package init(_ plan: PhotoPlan) { self.plan = plan }

  /// Decodes the photo and writes its outputs.
  ///
  /// - Parameter outputs: an empty file for each output of the plan. The file of a preview stays empty if the report has none.
  /// - Throws: `MediaError` if the run fails without a verdict on the photo.
  package func run(_ file: OpenFile, outputs: [Role: OpenFile]) throws(MediaError) -> PhotoReport {
    guard Set(outputs.keys) == Set(plan.outputs) else {
      throw MediaError(.invalidPlan, "the outputs do not match the plan")
    }
    do {
      let source = try PhotoSource(file, limits: plan.limits)
      let photo = try PhotoDecoder(source: source, variants: Array(plan.variants.values)).decode()
      var report = try report(photo, outputs)
      if let preview = plan.preview, let file = outputs[.photoPreview] {
        try PhotoPreviewWriter(preview: preview, source: source, file: file).write(addingTo: &report)
      }
      return report
    } catch {
      switch error {
      case .refused(let reason): return PhotoReport(reason: reason)
      case .failed(let failure): throw failure
      }
    }
  }

  private func report(_ photo: DecodedPhoto, _ outputs: [Role: OpenFile]) throws(RunFailure) -> PhotoReport {
    // Variants are scaled from the decoded image, as each scaling costs sharpness. For squares and the hash, which are
    // small, that is not visible: they may be scaled from the smallest variant.
    let full = photo.image
    var smallest = full
    var facts: [OutputFacts] = []
    let isSquare = { (role: Role) in plan.variants[role]?.square != nil }
    // A first look also scales what it does not write: the squares are made from the same image.
    let roles = plan.variants.keys.sorted { $0.rawValue < $1.rawValue }
    for role in roles.filter({ !isSquare($0) }) + roles.filter(isSquare) {
      guard let variant = plan.variants[role] else { continue }
      let geometry = variant.geometry(of: photo.decoded)
      let image: PlanarImage
      if variant.square == nil {
        image = resized(full, to: geometry.size, halvesChroma: variant.halvesChroma)
        if image.width < smallest.width { smallest = image }
      } else {
        let isEnough = min(smallest.width, smallest.height) >= Int(1.5 * Double(geometry.size.width))
        image = square(of: isEnough ? smallest : full, geometry, halvesChroma: variant.halvesChroma)
      }
      guard let file = outputs[role] else { continue }
      facts.append(try VariantWriter(role: role, variant: variant, file: file).write(image))
    }
    let small = Size(width: smallest.width, height: smallest.height).within(longEdge: ThumbHash.maxEdge)
    let thumbnail = resized(smallest, to: small, halvesChroma: smallest.halvesChroma).image
    return PhotoReport(
      facts: photo.facts, decisions: photo.decisions, thumbhash: ThumbHash(thumbnail).base64,
      dominantColor: DominantColor(thumbnail).hexadecimal, outputs: facts)
  }

  private func resized(_ image: PlanarImage, to size: Size, halvesChroma: Bool) -> PlanarImage {
    if image.width == size.width, image.height == size.height, image.halvesChroma == halvesChroma {
      return image
    }
    return image.scaled(toWidth: size.width, height: size.height, halvesChroma: halvesChroma)
  }

  /// The centred square of an image, which may be smaller than the photo.
  private func square(
    of image: PlanarImage, _ geometry: PhotoGeometry, halvesChroma: Bool
  ) -> PlanarImage {
    let edge = min(image.width, image.height)
    let crop = (x: (image.width - edge) / 4 * 2, y: (image.height - edge) / 4 * 2, width: edge, height: edge)
    let target = min(geometry.size.width, edge)
    return image.scaled(toWidth: target, height: target, crop: crop, halvesChroma: halvesChroma)
  }
}

/// Encodes one variant within its size limit and writes it.
struct VariantWriter {
  let role: Role
  let variant: PhotoVariant
  let file: OpenFile

  /// The lowest quality that is tried.
  private static let minQuality = 10
  private static let qualityStep = 7

  func write(_ image: PlanarImage) throws(RunFailure) -> OutputFacts {
    var quality = variant.quality
    var bytes = try encode(image, quality: quality)
    while let maxBytes = variant.maxBytes, bytes.count > maxBytes, quality > Self.minQuality {
      quality = max(quality - Self.qualityStep, Self.minQuality)
      bytes = try encode(image, quality: quality)
    }
    do { try file.descriptor.write(bytes, at: 0) } catch { throw RunFailure(error) }
    if let finding = Self.finding(in: bytes, variant.format ?? .jpeg) {
      throw .failed(MediaError(.library, "the privacy check of \(role.rawValue) found \(finding)"))
    }
    return OutputFacts(
      role: role, type: (variant.format ?? .jpeg).type, bytes: Int64(bytes.count), width: image.width,
      height: image.height)
  }

  private func encode(_ image: PlanarImage, quality: Int) throws(RunFailure) -> [UInt8] {
    do {
      switch variant.format ?? .jpeg {
      case .jpeg: return try JPEGEncoder(quality: quality).encode(image)
      case .webp: return try ImageEncoder.webp.encode(image.image, quality: quality)
      case .avif: return try ImageEncoder.avif.encode(image.image, quality: quality)
      }
    } catch {
      throw .failed(MediaError(.library, "\(role.rawValue) could not be encoded: \(error)"))
    }
  }

  /// The first finding that is not part of the image; nil if there is none.
  private static func finding(in bytes: [UInt8], _ format: PhotoVariant.Format) -> String? {
    switch format {
    case .jpeg: JPEGPrivacyCheck.finding(in: bytes)
    case .webp: WebPPrivacyCheck.finding(in: bytes)
    case .avif: AVIFPrivacyCheck.finding(in: bytes)
    }
  }
}

extension PlanarImage {
  /// The image as RGB pixels.
  var image: RGBImage { RGBImage(width: width, height: height, bytes: rgb()) }
}
