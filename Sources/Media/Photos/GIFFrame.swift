import AV
import Kernels
import Model
import Stills

/// The first image of a GIF as FFmpeg decodes it.
struct GIFFrame: ~Copyable {
  /// FFmpeg's name of the decoder.
  static let codec = "gif"

  private let gif: GIFImage
  private let frame: Frame

  init(_ gif: GIFImage, pixels: Int) throws {
    // FFmpeg compares its limit with rows that it has aligned to at most 64 pixels (get_buffer_internal). The pixels of the header are checked.
    let aligned = (gif.imageWidth + 63) * gif.imageHeight
    let limits = DecoderLimits(codecs: [Self.codec], pixels: max(pixels, aligned))
    // What fails before the decoder has seen the image says nothing about it.
    let decoder = try RunFailure.wrap { () throws(AVError) in try Decoder(ofImage: Self.codec, limits: limits) }
    let packet = try RunFailure.wrap { () throws(AVError) in try Packet(copying: gif.bytes) }
    let decoded = try RunFailure.wrap { () throws(AVError) in try Frame() }
    try decoder.send(packet)
    guard try decoder.receive(into: decoded) == .output, decoded.format == .bgra, decoded.width == gif.imageWidth,
      decoded.height == gif.imageHeight, decoded.plane(0) != nil
    else { throw ImageError.malformed("it gives no image") }
    self.gif = gif
    frame = decoded
  }

  /// Draws the image on a transparent canvas, row by row.
  func read(into scaler: ImageScaler) {
    guard let plane = frame.plane(0) else { return }
    let memory = AlignedBuffer(count: 8 * gif.width)
    let row = memory.base.assumingMemoryBound(to: UInt8.self)
    let empty = row + 4 * gif.width
    let count = min(gif.imageWidth, gif.width - gif.left)
    for y in 0..<gif.height {
      guard gif.top..<gif.top + gif.imageHeight ~= y else {
        scaler.take(empty)
        continue
      }
      let source = (plane.base + (y - gif.top) * plane.stride).assumingMemoryBound(to: UInt8.self)
      let target = row + 4 * gif.left
      for x in stride(from: 0, to: 4 * count, by: 4) {
        (target[x], target[x + 1], target[x + 2], target[x + 3]) = (
          source[x + 2], source[x + 1], source[x], source[x + 3]
        )
      }
      scaler.take(row)
    }
  }
}

extension PhotoDecoder {
  func decodeGIF() throws -> DecodedPhoto {
    let gif = try GIFImage(try source.bytes(), pixels: source.limits.pixels)
    let size = Size(width: gif.width, height: gif.height)
    let facts = PhotoFacts(
      format: .gif, bytes: source.size, coded: size, transform: .identity, display: size, bits: 8, model: "RGB",
      hasAlpha: gif.hasAlpha, isAnimated: gif.isAnimated,
      identifying: gif.texts.map(\.rawValue).sorted().map { IdentifyingMetadata(kind: .other, key: $0) })
    let image = target(size)
    let frame = try GIFFrame(gif, pixels: source.limits.pixels)
    frame.read(into: ImageScaler(width: size.width, height: size.height, target: image))
    return DecodedPhoto(
      facts: facts, decoded: size, image: image, decisions: facts.decisions(isTurnedByExif: false, decoded: size))
  }
}
