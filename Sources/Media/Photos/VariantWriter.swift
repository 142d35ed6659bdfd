import Kernels
import Model
import Platform
import Stills

/// Encodes one variant, in as few bytes as it may have, and writes it.
struct VariantWriter {
  let role: Role
  let variant: PhotoVariant
  let file: OpenFile

  /// Below this a picture is worth nothing.
  private static let lowestQuality = 10
  private static let qualityStep = 7

  func write(_ picture: PlanarImage) throws(Stop) -> OutputFacts {
    var quality = variant.quality
    var bytes = try encode(picture, quality: quality)
    while let most = variant.mostBytes, bytes.count > most, quality > Self.lowestQuality {
      quality = max(quality - Self.qualityStep, Self.lowestQuality)
      bytes = try encode(picture, quality: quality)
    }
    do { try file.descriptor.write(bytes, at: 0) } catch { throw Stop(error) }
    if let finding = Self.finding(in: bytes, variant.format ?? .jpeg) {
      throw .failed(MediaError(.library, "\(role.rawValue) carries what it must not: \(finding)"))
    }
    return OutputFacts(
      role: role, type: (variant.format ?? .jpeg).type, bytes: Int64(bytes.count), width: picture.width,
      height: picture.height)
  }

  private func encode(_ picture: PlanarImage, quality: Int) throws(Stop) -> [UInt8] {
    do {
      switch variant.format ?? .jpeg {
      case .jpeg: return try PlanarJPEGEncoder(quality: quality).encode(picture)
      case .webp: return try ImageEncoder.webp.encode(picture.image, quality: quality)
      case .avif: return try ImageEncoder.avif.encode(picture.image, quality: quality)
      }
    } catch {
      throw .failed(MediaError(.library, "\(role.rawValue) could not be encoded: \(error)"))
    }
  }

  /// What an output has beside its picture; nil: nothing.
  private static func finding(in bytes: [UInt8], _ format: PhotoVariant.Format) -> String? {
    switch format {
    case .jpeg: JPEGPrivacyCheck.finding(in: bytes)
    case .webp: WebPPrivacyCheck.finding(in: bytes)
    case .avif: AVIFPrivacyCheck.finding(in: bytes)
    }
  }
}

extension PlanarImage {
  /// As RGB pixels.
  var image: RGBImage { RGBImage(width: width, height: height, bytes: rgb()) }
}
