extension Definition {
  /// The composed video.
  package struct Composed: Codable, Sendable, Hashable {
    /// How the two pictures lie on the canvas.
    package enum Layout: String, Codable, Sendable, CaseIterable {
      /// The background fills the canvas, the foreground lies on it.
      case inset
      /// The foreground is the left half, the background the right one.
      case sideBySide = "side-by-side"
      /// The foreground is the upper half, the background the lower one.
      case stacked
    }

    /// Whose sound it has.
    package enum Sound: String, Codable, Sendable {
      /// The foreground's, or else the other's, or else none.
      case foreground
    }

    package var layout: Layout
    /// Of the layout `inset`.
    package var inset: Inset
    package var audio: Sound
    package var video: VideoEncoding
    /// The shortest and the longest composed video.
    package var seconds: ClosedSeconds

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      layout = try container.decode(Layout.self, forKey: .layout)
      inset = try container.decodeIfPresent(Inset.self, forKey: .inset) ?? .standard
      audio = try container.decode(Sound.self, forKey: .audio)
      video = try container.decode(VideoEncoding.self, forKey: .video)
      seconds = try container.decode(ClosedSeconds.self, forKey: .seconds)
    }
  }

  /// Where and how large the foreground is drawn.
  package struct Inset: Codable, Sendable, Hashable {
    /// A corner of the canvas.
    package enum Corner: String, Codable, Sendable, CaseIterable {
      case topLeft = "top-left"
      case topRight = "top-right"
      case bottomLeft = "bottom-left"
      case bottomRight = "bottom-right"
    }

    /// A share of the canvas's width; its shape is the canvas's, or with the fit `fit` the picture's.
    package var width: Double
    package var corner: Corner
    /// From the canvas's edges, in pixels.
    package var margin: Int
    /// Of its corners, in pixels.
    package var radius: Int
    /// Nil: none.
    package var border: Border?

    /// What holds where a definition does not say: 30 % of the width, top left.
    package static let standard = Inset(width: 0.3, corner: .topLeft, margin: 36, radius: 36)
  }

  /// A line around the inset, inside its rectangle.
  package struct Border: Codable, Sendable, Hashable {
    /// In pixels, even.
    package var width: Int
    package var color: RGBColor

    package init(width: Int, color: RGBColor) {
      self.width = width
      self.color = color
    }
  }
}
