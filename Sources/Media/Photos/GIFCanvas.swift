import Kernels
import Model
import Stills

/// The canvas of a GIF, on which its images are drawn one after the other (GIF89a, 23), as 32-bit RGBA without padding.
struct GIFCanvas: ~Copyable {
  let size: Size
  /// The pixels, valid while the canvas lives. What no image covers is transparent, as in browsers.
  let pixels: UnsafeMutablePointer<UInt8>
  private let memory: AlignedBuffer
  /// The part of the canvas that the last image covers, and what becomes of it.
  private var area = Rectangle(x: 0, y: 0, width: 0, height: 0)
  private var disposal = GIFControl.Disposal.keep
  /// The rows of this part as they were in front of the image, if they are restored.
  private var saved: [UInt8] = []

  init(_ size: Size) {
    let memory = AlignedBuffer(count: 4 * size.width * size.height)
    self.size = size
    pixels = memory.base.assumingMemoryBound(to: UInt8.self)
    self.memory = memory
  }

  /// Decodes an image and draws it on what the image before it leaves. After an error the canvas is as it was.
  ///
  /// - Parameter maxPixels: of the image.
  mutating func draw(_ picture: GIFPicture, maxPixels: Int) throws {
    let frame = try GIFFrame(picture, pixels: maxPixels)
    dispose()
    let (width, height) = (size.width - picture.left, size.height - picture.top)
    let isVisible = width > 0 && height > 0
    area = Rectangle(
      x: picture.left, y: picture.top, width: isVisible ? min(picture.width, width) : 0,
      height: isVisible ? min(picture.height, height) : 0)
    disposal = picture.control.disposal
    saved = []
    if disposal == .restore {
      saved.reserveCapacity(4 * area.width * area.height)
      for row in rows { saved += row }
    }
    frame.draw(on: pixels, width: size.width, area: area)
  }

  private func dispose() {
    switch disposal {
    case .keep: break
    case .clear: for row in rows { row.update(repeating: 0) }
    case .restore:
      var rest = saved[...]
      for row in rows {
        _ = row.update(fromContentsOf: rest.prefix(row.count))
        rest = rest.dropFirst(row.count)
      }
    }
  }

  /// The rows of the area.
  private var rows: [UnsafeMutableBufferPointer<UInt8>] {
    (area.y..<area.y + area.height).map { y in
      UnsafeMutableBufferPointer(start: pixels + 4 * (y * size.width + area.x), count: 4 * area.width)
    }
  }
}
