extension Definition {
  /// A smaller version of a video, made from the same frames and with the same sound.
  package struct Rendition: Codable, Sendable, Hashable {
    /// The video that it shows.
    package enum Source: String, NamedCases, Sendable {
      case composed
    }

    package var from: Source
    /// The longer edge in pixels; a video is never enlarged.
    package var longEdge: Int
    package var video: VideoEncoding
  }

  /// A playable clip of one camera.
  package struct Clip: Codable, Sendable, Hashable {
    /// The way the clip is made.
    package enum Mode: String, NamedCases, Sendable {
      /// Copies the packets if every player can play them, and encodes the clip otherwise.
      case remuxOrEncode = "remux-or-encode"
    }

    package var mode: Mode
    /// The settings if the clip is encoded.
    package var video: VideoEncoding
    /// The longer edge in pixels if the clip is encoded.
    package var longEdge: Int
    /// The maximum frame rate if the clip is encoded; nil: the canvas's rate, or without a canvas the clip's.
    package var framesPerSecond: Int?
    /// The largest demands on a decoder of a clip that is copied; nil: any.
    package var copy: CopyLimits?
    /// The loudness to which the audio is brought if the clip is encoded, in LUFS; nil: it stays as it is.
    package var loudness: Double?
  }

  /// What a copied clip may ask of a decoder at most. The decoders of phones are made for a profile, a level and a size.
  package struct CopyLimits: Codable, Sendable, Hashable {
    /// The profiles by their numbers (ITU-T H.264, A.2): 66, 77 and 100 are Baseline, Main and High.
    package var profiles: [Int]
    /// The level (ITU-T H.264, table A-1).
    package var level: Double
    /// The longer edge of a coded frame, in pixels.
    package var longEdge: Int
    /// The mean bit rate of the video.
    package var bitsPerSecond: Int

    package init(profiles: [Int], level: Double, longEdge: Int, bitsPerSecond: Int) {
      self.profiles = profiles
      self.level = level
      self.longEdge = longEdge
      self.bitsPerSecond = bitsPerSecond
    }
  }

  /// An image taken from a clip or from the composition: the whole frame, scaled. Where rounding gives its size another
  /// aspect ratio, `UprightConverter` crops the frame to it.
  package struct Still: Codable, Sendable, Hashable {
    /// The video that the frame is taken from.
    package enum Source: String, NamedCases, Sendable {
      case front
      case back
      case composed
      case clip
    }

    package var from: Source
    /// The time of the frame in seconds from the start.
    package var at: Double
    /// The longer edge in pixels; a frame is never enlarged.
    package var longEdge: Int
    /// The JPEG quality, 1 to 100.
    package var quality: Int
  }
}

extension Definition {
  /// A short animated WebP for pins of a map and cells of a calendar.
  package struct Preview: Codable, Sendable, Hashable {
    package var from: Still.Source
    /// The time of its first frame, in seconds from the start.
    package var at: Double
    /// The duration of one loop.
    package var seconds: Double
    package var framesPerSecond: Int
    /// The longer edge in pixels; a frame is never enlarged.
    package var longEdge: Int
    /// The WebP quality, 1 to 100.
    package var quality: Int
  }
}

extension Definition {
  /// The settings of a video encoder.
  package struct VideoEncoding: Codable, Sendable, Hashable {
    /// A codec by its common name.
    package enum Codec: String, NamedCases, Sendable {
      case h264
    }

    package var codec: Codec
    /// The preset of x264.
    package var preset: String
    /// The constant rate factor of x264.
    package var crf: Double
    /// Further parameters of x264 by name.
    package var x264: [String: Int]

    package init(codec: Codec = .h264, preset: String, crf: Double, x264: [String: Int] = [:]) {
      self.codec = codec
      self.preset = preset
      self.crf = crf
      self.x264 = x264
    }

    /// The value of the option `x264-params`: `bframes=1:cpu-independent=1`.
    ///
    /// Without `cpu-independent`, x264's SIMD code reads uninitialised memory (`mbtree_propagate_list`), and the same
    /// frames are sometimes encoded to different bytes.
    package var x264Parameters: String {
      x264.merging(["cpu-independent": 1]) { named, _ in named }
        .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
    }
  }
}

extension Definition.Still.Source {
  /// The input; nil: the composition.
  var input: InputName? {
    switch self {
    case .front: .front
    case .back: .back
    case .clip: .clip
    case .composed: nil
    }
  }
}
