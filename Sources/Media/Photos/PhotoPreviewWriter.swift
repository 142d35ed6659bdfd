import AV
import Model
import Platform
import Stills

/// Writes the first seconds of an animated photo as an animated WebP.
///
/// How much of the animation it decodes is bounded by numbers, not by time: the same photo gives the same bytes.
struct PhotoPreviewWriter {
  let preview: PhotoPreview
  let source: PhotoSource
  let file: OpenFile

  /// The largest canvas that is animated, in pixels. libwebp adds the samples that become one in 32 bits.
  static let maxCanvasPixels = 16_777_216
  /// The largest number of pixels that are decoded and reduced: each image counts, and the canvas with it.
  static let maxPixels = 268_435_456
  /// The longest delay that browsers replace by another one, in milliseconds.
  private static let maxReplacedDelay = 10
  private static let replacingDelay = 100

  /// Writes the preview of an accepted photo and adds it to its report, if it shows several images.
  func write(addingTo report: inout PhotoReport) throws(RunFailure) {
    guard report.reason == nil, let facts = report.facts, facts.isAnimated else { return }
    let canvas = facts.coded
    var missing: String?
    if !PhotoPreview.formats.contains(facts.format) {
      missing = "animations of \(facts.format.name) have none"
    } else if canvas.width * canvas.height > Self.maxCanvasPixels {
      missing = "its canvas has more than \(Self.maxCanvasPixels) pixels"
    } else if let made = try encode(canvas) {
      report.facts?.previewImages = made.images
      report.outputs.append(try write(made.bytes, of: canvas, milliseconds: made.milliseconds))
    } else {
      missing = "of its first \(PhotoPreview.maxMilliseconds / 1000) seconds only one image can be shown"
    }
    if let missing {
      report.decisions.append(Decision(.videoStream, input: .photo, choice: "no preview", reason: missing))
    }
  }

  private func write(_ bytes: [UInt8], of canvas: Size, milliseconds: Int) throws(RunFailure) -> OutputFacts {
    do { try file.descriptor.write(bytes, at: 0) } catch { throw RunFailure(error) }
    if let finding = WebPPrivacyCheck.finding(in: bytes) {
      throw .failed(MediaError(.library, "the privacy check of \(Role.photoPreview.rawValue) found \(finding)"))
    }
    let size = canvas.within(longEdge: preview.longEdge)
    return OutputFacts(
      role: .photoPreview, type: PhotoPreview.type, bytes: Int64(bytes.count), width: size.width, height: size.height,
      duration: Double(milliseconds) / 1000)
  }

  /// Encodes the first images of a GIF; nil if only one can be shown.
  private func encode(
    _ size: Size
  ) throws(RunFailure) -> (images: Int, milliseconds: Int, bytes: [UInt8])? {
    let bytes = try source.bytes()
    var pictures: GIFPictures
    do { pictures = try GIFPictures(bytes, pixels: source.limits.pixels) } catch { throw source.failure(for: error) }
    var canvas = GIFCanvas(size)
    let target = size.within(longEdge: preview.longEdge)
    do {
      var encoder = try AnimationEncoder(width: target.width, height: target.height, quality: preview.quality)
      var (images, time, pixels) = (0, 0, Self.maxPixels)
      while images < PhotoPreview.maxImages, time < PhotoPreview.maxMilliseconds,
        let delay = try draw(&pictures, on: &canvas, within: &pixels)
      {
        try encoder.add(canvas.pixels, width: size.width, height: size.height, at: time)
        images += 1
        time = min(
          time + (delay > Self.maxReplacedDelay ? delay : Self.replacingDelay), PhotoPreview.maxMilliseconds)
      }
      return images > 1 ? (images, time, try encoder.finish(at: time)) : nil
    } catch let failure as RunFailure {
      throw failure
    } catch {
      let kind: MediaError.Kind = error as? ImageError == .outOfMemory ? .outOfMemory : .library
      throw .failed(MediaError(kind, "\(Role.photoPreview.rawValue) could not be encoded: \(error)"))
    }
  }

  /// Draws the next image, and returns its delay in milliseconds; nil if no image follows that can be decoded within the limits.
  ///
  /// The photo is accepted by its first image: a fault behind it ends the preview.
  ///
  /// - Parameter left: the pixels that may be decoded and reduced.
  private func draw(
    _ pictures: inout GIFPictures, on canvas: inout GIFCanvas, within left: inout Int
  ) throws(RunFailure) -> Int? {
    left -= canvas.size.width * canvas.size.height
    guard left > 0 else { return nil }
    do {
      guard let picture = try pictures.next(pixels: min(left, source.limits.pixels)) else { return nil }
      left -= picture.width * picture.height
      try canvas.draw(picture, maxPixels: source.limits.pixels)
      return 10 * picture.control.delay
    } catch let failure as RunFailure {
      throw failure
    } catch let error as AVError where error.isOutOfMemory {
      throw RunFailure(error)
    } catch ImageError.outOfMemory {
      throw source.failure(for: ImageError.outOfMemory)
    } catch {
      return nil
    }
  }
}
