extension Definition {
  /// The frame of a composition.
  package struct Canvas: Codable, Sendable, Hashable {
    /// The scaling of a frame to a rectangle of another aspect ratio.
    package enum Fit: String, NamedCases, Sendable {
      /// Fills the rectangle and crops the rest.
      case crop
      /// Shows the entire frame; the rest has the canvas's colour. An inset takes the frame's aspect ratio.
      case fit
    }

    package var width = 1080
    package var height = 1920
    package var framesPerSecond = 30
    package var fit = Fit.crop
    /// The colour of areas without a frame; nil: black.
    package var color: RGBColor?

    /// The size in pixels.
    package var size: Size { Size(width: width, height: height) }
  }
}

extension Definition {
  /// The composed video.
  package struct Composed: Codable, Sendable, Hashable {
    /// The arrangement of the two clips on the canvas.
    package enum Layout: String, NamedCases, Sendable {
      /// The background fills the canvas; the foreground is drawn on top, in the inset.
      case inset
      /// The foreground is the left half, the background the right one.
      case sideBySide = "side-by-side"
      /// The foreground is the upper half, the background the lower one.
      case stacked
    }

    /// The source of the audio.
    package enum AudioSource: String, NamedCases, Sendable {
      /// The foreground's audio; if it has none, the background's; if neither has any, no audio.
      case foreground
    }

    /// What becomes of a foreground's audio that is silent throughout.
    package enum SilentAudio: String, NamedCases, Sendable {
      /// The other clip's audio is taken in its place, if that is not silent.
      case other
    }

    package var layout: Layout
    /// The inset of the layout `inset`.
    package var inset: Inset
    package var audio: AudioSource
    /// Nil: silent audio is kept.
    package var silent: SilentAudio?
    /// The loudness to which the audio is brought, in LUFS; nil: it stays as it is.
    package var loudness: Double?
    package var video: VideoEncoding
    /// The allowed durations of the composed video.
    package var seconds: SecondsRange

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      layout = try container.decode(Layout.self, forKey: .layout)
      inset = try container.decodeIfPresent(Inset.self, forKey: .inset) ?? .standard
      audio = try container.decode(AudioSource.self, forKey: .audio)
      silent = try container.decodeIfPresent(SilentAudio.self, forKey: .silent)
      loudness = try container.decodeIfPresent(Double.self, forKey: .loudness)
      video = try container.decode(VideoEncoding.self, forKey: .video)
      seconds = try container.decode(SecondsRange.self, forKey: .seconds)
    }
  }

  /// The position and size of the foreground in the layout `inset`.
  package struct Inset: Codable, Sendable, Hashable {
    /// A corner of the canvas.
    package enum Corner: String, NamedCases, Sendable {
      case topLeft = "top-left"
      case topRight = "top-right"
      case bottomLeft = "bottom-left"
      case bottomRight = "bottom-right"
    }

    /// A fraction of the canvas's width. The aspect ratio is the canvas's; with the fit `fit`, the frame's.
    package var width: Double
    package var corner: Corner
    /// The distance from the canvas's edges, in pixels.
    package var margin: Int
    /// The radius of the corners, in pixels.
    package var radius: Int
    /// Nil: no border.
    package var border: Border?

    /// The default: 30 % of the width, top left.
    package static let standard = Inset(width: 0.3, corner: .topLeft, margin: 36, radius: 36)
  }

  /// A line around the inset, inside its rectangle.
  package struct Border: Codable, Sendable, Hashable {
    /// The width in pixels, even.
    package var width: Int
    package var color: RGBColor

    package init(width: Int, color: RGBColor) {
      self.width = width
      self.color = color
    }
  }
}

/// An sRGB colour, `#RRGGBB` in JSON.
package struct RGBColor: Codable, Sendable, Hashable, CustomStringConvertible {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  package static let black = RGBColor(red: 0, green: 0, blue: 0)

  package init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Reads `#RRGGBB`; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count == 7, text.hasPrefix("#"), !text.contains("+"),
      let number = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    self.init(
      red: UInt8(truncatingIfNeeded: number >> 16), green: UInt8(truncatingIfNeeded: number >> 8),
      blue: UInt8(truncatingIfNeeded: number))
  }

  package var description: String {
    "#"
      + [red, green, blue].map { part in
        let digits = String(part, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let color = RGBColor(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected a colour as #RRGGBB")
    }
    self = color
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension Definition.Composed {
  /// The size of the inset on a canvas; with the fit `fit` its frame may be smaller.
  func insetBox(on canvas: Definition.Canvas) -> Size {
    let width = Size.even(Double(canvas.width) * inset.width)
    return Size(width: width, height: Size.even(Double(width) * Double(canvas.height) / Double(canvas.width)))
  }
}
