extension Definition {
  /// What is made, by role; a role that is left out is not made.
  package struct Outputs: Codable, Sendable, Hashable {
    package var composed: Composed?
    /// The same moment with foreground and background exchanged.
    package var composedSwapped: Composed?
    /// Of a definition whose only input is one clip.
    package var clip: Clip?
    package var clipFront: Clip?
    package var clipBack: Clip?
    package var image: Still?
    package var poster: Still?
    package var thumbnail: Still?
    package var thumbnailFront: Still?
    package var thumbnailBack: Still?
    package var preview: Preview?

    private enum CodingKeys: String, CodingKey {
      case composed
      case composedSwapped = "composed.swapped"
      case clip
      case clipFront = "clip.front"
      case clipBack = "clip.back"
      case image
      case poster
      case thumbnail
      case thumbnailFront = "thumbnail.front"
      case thumbnailBack = "thumbnail.back"
      case preview
    }
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
    /// The most pictures a second when encoded; nil: as many as the canvas has, or without one as the clip.
    package var framesPerSecond: Int?
  }

  /// A picture.
  package struct Still: Codable, Sendable, Hashable {
    /// Whose frame it is.
    package enum Source: String, Codable, Sendable {
      case front
      case back
      case composed
      case clip
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
