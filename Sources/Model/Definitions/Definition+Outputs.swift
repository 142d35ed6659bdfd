extension Definition {
  /// What is made, by role; a role that is left out is not made.
  package struct Outputs: Codable, Sendable, Hashable {
    package var composed: Composed?
    package var clipFront: Clip?
    package var clipBack: Clip?
    package var image: Still?
    package var poster: Still?
    package var thumbnailFront: Still?
    package var thumbnailBack: Still?

    private enum CodingKeys: String, CodingKey {
      case composed
      case clipFront = "clip.front"
      case clipBack = "clip.back"
      case image
      case poster
      case thumbnailFront = "thumbnail.front"
      case thumbnailBack = "thumbnail.back"
    }
  }

  /// The composed video.
  package struct Composed: Codable, Sendable, Hashable {
    /// How the two pictures lie on the canvas.
    package enum Layout: String, Codable, Sendable {
      case inset
    }

    /// Whose sound it has.
    package enum Sound: String, Codable, Sendable {
      /// The foreground's, or else the other's, or else none.
      case foreground
    }

    package var layout: Layout
    package var inset: Inset
    package var audio: Sound
    package var video: VideoEncoding
    /// The shortest and the longest composed video.
    package var seconds: ClosedSeconds
  }

  /// Where and how large the foreground is drawn.
  package struct Inset: Codable, Sendable, Hashable {
    /// A corner of the canvas.
    package enum Corner: String, Codable, Sendable {
      case topLeft = "top-left"
      case topRight = "top-right"
      case bottomLeft = "bottom-left"
      case bottomRight = "bottom-right"
    }

    /// A share of the canvas's width; its shape is the canvas's.
    package var width: Double
    package var corner: Corner
    /// From the canvas's edges, in pixels.
    package var margin: Int
    /// Of its corners, in pixels.
    package var radius: Int
  }

  /// One camera's playable clip.
  package struct Clip: Codable, Sendable, Hashable {
    /// How it is made.
    package enum Mode: String, Codable, Sendable {
      /// Copied when it fits already, else encoded.
      case remuxOrEncode = "remux-or-encode"
    }

    package var mode: Mode
    /// How it is encoded when it does not fit.
    package var video: VideoEncoding
    /// When encoded, in pixels.
    package var longEdge: Int
  }

  /// A picture.
  package struct Still: Codable, Sendable, Hashable {
    /// Whose frame it is.
    package enum Source: String, Codable, Sendable {
      case front
      case back
      case composed
    }

    package var from: Source
    /// In seconds from the start.
    package var at: Double
    /// In pixels; never enlarged.
    package var longEdge: Int
    /// Of the JPEG, 1 to 100.
    package var quality: Int
  }
}
