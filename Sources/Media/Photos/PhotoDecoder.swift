import AV
import ISOBaseMedia
import Kernels
import Model
import Platform
import Stills

/// Decodes a photo of any accepted format to the size of its largest variant.
struct PhotoDecoder {
  let source: PhotoSource
  let variants: [PhotoVariant]

  func decode() throws(RunFailure) -> DecodedPhoto {
    do {
      switch source.format {
      case .jpeg: return try decodeJPEG()
      case .png: return try decodeImage(.png, model: "RGB")
      case .webp: return try decodeImage(.webp, model: "RGB")
      case .heif, .avif: return try decodeImage(.heif, model: "YCbCr")
      case .gif: return try decodeGIF()
      }
    } catch let error as JPEGError {
      throw source.failure(for: error)
    } catch let error as HEIFRefusal {
      throw source.failure(for: error)
    } catch let error as ImageError {
      throw source.failure(for: error)
    } catch let error as AVError {
      throw source.failure(for: error)
    } catch let failure as RunFailure {
      throw failure
    } catch {
      throw .failed(MediaError(.library, "\(error)"))
    }
  }

  private func decodeJPEG() throws -> DecodedPhoto {
    let segments = try source.segments()
    let exif = Exif(segments.exif)
    let limits = JPEGLimits(
      pixels: source.limits.pixels, headerPixels: source.limits.headerPixels,
      bufferedPixels: source.limits.progressivePixels)
    var decoder = try JPEGDecoder(reading: source.file.descriptor.number, limits: limits)
    let header = decoder.header
    let transform = Transform(exif: exif.orientation)
    let coded = Size(width: header.width, height: header.height)
    let display = transform.swapsAxes ? Size(width: coded.height, height: coded.width) : coded
    let decoded =
      transform.swapsAxes
      ? Size(width: header.decodedHeight, height: header.decodedWidth)
      : Size(width: header.decodedWidth, height: header.decodedHeight)
    let profile = PhotoProfile(segments.profile)
    let facts = PhotoFacts(
      format: .jpeg, bytes: source.size, coded: coded, transform: transform, display: display, bits: 8,
      model: header.color.name, profile: profile.name, dynamicRange: profile.dynamicRange,
      identifying: IdentifyingMetadata.found(in: exif, segments))
    let image = target(decoded)
    switch header.color {
    case .ycbcr, .grey: try readPlanes(&decoder, into: image, transform.orientation)
    case .rgb, .cmyk: try readRows(&decoder, into: image, transform.orientation, profile)
    }
    let decisions = profile.apply(to: image)
    return DecodedPhoto(
      facts: facts, decoded: decoded, image: image,
      decisions: facts.decisions(isTurnedByExif: true, decoded: decoded) + decisions)
  }

  private func decodeImage(_ format: ImageReader.Format, model: String) throws -> DecodedPhoto {
    let bytes = try source.bytes()
    // The size is checked before libheif is called, which is then not even loaded for a decompression bomb.
    let heif = format == .heif ? try HEIFImage(bytes, pixels: source.limits.pixels) : nil
    var reader = try ImageReader(heif?.bytes ?? bytes, format: format, pixels: source.limits.pixels)
    let header = reader.header
    let exif = Exif(heif?.exif ?? (format == .png && reader.exif.isEmpty ? PNGExif.find(in: bytes) : reader.exif[...]))
    let decoded = Size(width: header.width, height: header.height)
    let swapped = Size(width: header.height, height: header.width)
    // A HEIF is rotated by its own properties; its Exif orientation repeats them and is ignored. Phones that write no such property turn
    // their HEIC by Exif.
    let container = heif?.properties
    let isExif = container == nil || (source.format == .heif && container?.statesOrientation == false)
    let transform = isExif ? Transform(exif: exif.orientation) : container?.transform ?? .identity
    let profile = PhotoProfile(reader.profile, header: header)
    let facts = PhotoFacts(
      format: source.format, bytes: source.size,
      coded: decoded, transform: transform, display: transform.swapsAxes ? swapped : decoded, bits: header.bits,
      model: model,
      hasAlpha: header.hasAlpha,
      isAnimated: heif?.hasSequence ?? (header.isAnimated || Self.isAnimated(bytes, format)), profile: profile.name,
      dynamicRange: profile.dynamicRange, identifying: IdentifyingMetadata.found(in: exif))
    let image = target(facts.display)
    // libheif expands the limited range of colours, but not of luma alone.
    let rows = ImageRows(
      orientation: transform.orientation, isPremultiplied: heif?.isPremultiplied ?? false,
      expandsGrey: heif?.isMonochrome == true && !header.isFullRange)
    if profile.dynamicRange == .standard {
      try rows.read(&reader, into: image)
    } else if try !readPlanes(&reader, into: image, profile, rows) {
      try rows.read(&reader, into: image, mapping: profile.highDynamicRangeMapping)
    }
    let decisions = profile.apply(to: image, isMapped: true)
    return DecodedPhoto(
      facts: facts, decoded: facts.display, image: image,
      decisions: facts.decisions(isTurnedByExif: isExif, decoded: facts.display) + decisions)
  }

  func target(_ decoded: Size) -> PlanarImage {
    let target = DecodedPhoto.Target(variants, of: decoded)
    return PlanarImage(width: target.size.width, height: target.size.height, halvesChroma: target.halvesChroma)
  }

  private func readPlanes(
    _ decoder: inout JPEGDecoder, into image: PlanarImage, _ orientation: Orientation
  ) throws {
    let isGrey = decoder.header.components == 1
    try decoder.readPlanes { components in
      components.enumerated().map { index, component in
        PlaneScaler(
          width: component.width, height: component.height, rowBytes: component.rowBytes, band: component.bandRows,
          target: image.plane(index), orientation: orientation)
      }
    }
    if isGrey { for index in 1...2 { image.plane(index).fill(with: 128) } }
  }

  private func readRows(
    _ decoder: inout JPEGDecoder, into image: PlanarImage, _ orientation: Orientation, _ profile: PhotoProfile
  ) throws {
    let (width, height) = (decoder.header.decodedWidth, decoder.header.decodedHeight)
    let scaler = ImageScaler(
      width: width, height: height, target: image, orientation: orientation)
    let rowBytes = decoder.bytesPerPixel * width
    let memory = AlignedBuffer(count: rowBytes + 3 * width + 4 * width)
    let coded = memory.base.assumingMemoryBound(to: UInt8.self)
    let (rgb, rgba) = (coded + rowBytes, coded + rowBytes + 3 * width)
    for _ in 0..<height {
      try decoder.read(
        into: UnsafeMutableBufferPointer(start: coded, count: rowBytes), stride: rowBytes, rowCount: 1)
      let colors: UnsafeMutablePointer<UInt8>
      if decoder.header.color == .cmyk {
        profile.convertInks(coded, into: rgb, count: width)
        colors = rgb
      } else {
        colors = coded
      }
      for x in 0..<width {
        (rgba[4 * x], rgba[4 * x + 1], rgba[4 * x + 2]) = (colors[3 * x], colors[3 * x + 1], colors[3 * x + 2])
        rgba[4 * x + 3] = 255
      }
      scaler.take(rgba)
    }
  }

  /// Maps the planes of a HEIF or AVIF of more than 8 bits, which is faster than its rows; false if libheif cannot give them.
  private func readPlanes(
    _ reader: inout ImageReader, into image: PlanarImage, _ profile: PhotoProfile, _ rows: ImageRows
  ) throws -> Bool {
    let header = reader.header
    guard source.format == .heif || source.format == .avif, header.bits > 8 else { return false }
    let size = Size(width: header.width, height: header.height)
    do throws(ImageError) {
      try reader.readPlanes { planes, bits, alpha in
        let transparency = alpha.map { alpha in
          PhotoTransparency(
            alpha.plane, bits: alpha.bits, size: size, isPremultiplied: rows.isPremultiplied,
            isFullRange: profile.isFullRange)
        }
        HighDynamicRangePhoto(
          planes: planes, bits: bits, transparency: transparency, size: size, orientation: rows.orientation
        ).map(by: profile.highDynamicRangeTable, into: image)
      }
      return true
    } catch {
      // Without an alpha channel, rows would be no better.
      guard case .unsupported = error, header.hasAlpha else { throw error }
      return false
    }
  }
}

extension PhotoDecoder {
  /// Whether a PNG is animated: it has a chunk `acTL` before its image data (PNG 3, 11.3.6).
  private static func isAnimated(_ bytes: [UInt8], _ format: ImageReader.Format) -> Bool {
    guard format == .png else { return false }
    var offset = 8
    while offset + 8 <= bytes.count {
      let name = bytes[offset + 4..<offset + 8]
      if name.elementsEqual("acTL".utf8) { return true }
      if name.elementsEqual("IDAT".utf8) { return false }
      offset += 12 + bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    return false
  }
}

extension PhotoFacts {
  /// The decisions that follow from the facts.
  ///
  /// - Parameter decoded: the upright size at which the photo was decoded.
  func decisions(isTurnedByExif: Bool, decoded: Size) -> [Decision] {
    var decisions: [Decision] = []
    if decoded != display {
      decisions.append(
        Decision(
          .scaling, input: .photo, choice: "decoded at \(decoded.width)x\(decoded.height) pixels",
          reason: "its \(display.width)x\(display.height) pixels are more than are decoded of a photo"))
    }
    if transform != .identity {
      let origin = isTurnedByExif ? "its Exif orientation" : "its container"
      decisions.append(Decision(.transform, input: .photo, choice: transform.summary, reason: "\(origin) requires it"))
    }
    if hasAlpha {
      decisions.append(Decision(.color, input: .photo, choice: "laid on white", reason: "it is transparent in parts"))
    }
    if isAnimated {
      decisions.append(
        Decision(.videoStream, input: .photo, choice: "the first image", reason: "animation is not supported"))
    }
    return decisions
  }
}

extension JPEGColor {
  /// The name in the facts.
  fileprivate var name: String {
    switch self {
    case .grey: "grey"
    case .ycbcr: "YCbCr"
    case .rgb: "RGB"
    case .cmyk: "CMYK"
    }
  }
}
