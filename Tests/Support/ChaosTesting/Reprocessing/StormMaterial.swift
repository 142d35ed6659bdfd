import HTTPTesting
import MediaFixtures
import Model
import Platform

/// A few small files, each of which is submitted many times.
struct StormMaterial: Sendable {
  /// One submission.
  struct Submission {
    let sources: StormMedium.Sources
    let path: String
    let form: MultipartForm
  }

  /// The kinds of consecutive posts: half are moments, three in ten are markers, the others photos.
  private static let posts: [StormMedium.Kind] = [
    .take5, .marker, .photo, .take5, .take5, .marker, .take5, .photo, .take5, .marker,
  ]

  /// The number of photos of a post, so that an asset set has two assets of one role.
  static let photosOfPost = 2

  private let clips: [[UInt8]]
  private let images: [[UInt8]]

  /// Creates the files.
  init() throws {
    // The clips are shorter than the default definition of moments permits, and long enough for a marker.
    clips = try (0..<8).map { number in
      var clip = MarkedClip(
        MarkColor.allCases[number % 3], width: 144, height: 256, seconds: 0.8, framesPerSecond: 15,
        tone: .init(300 + 70 * Double(number)))
      clip.firstNumber = 16 * number
      return try TemporaryFile.bytes(of: clip.write())
    }
    images = try (0..<6).map { number in
      try PhotoFixture.jpeg(
        PhotoFixture.image(width: 200, height: 150) { x, y in
          (UInt8(truncatingIfNeeded: x &+ number * 40), UInt8(truncatingIfNeeded: y), UInt8(number * 30))
        })
    }
  }

  /// Returns the submission with a number: posts first, then images.
  func submission(_ number: Int, posts: Int) -> Submission {
    let kind = number < posts ? Self.posts[number % Self.posts.count] : .place
    // The sources of each kind follow each other, independent of the order of kinds.
    let index = number / Self.posts.count + number
    var form = MultipartForm()
    func post(_ more: String = "") {
      form.add("post", Array(#"{"kind":"\#(kind.rawValue)","author":"author-\#(number)"\#(more)}"#.utf8))
    }
    switch kind {
    case .take5:
      let pair = index % 4
      post(pair % 2 == 0 ? #","foreground":"back""# : "")
      form.add("front", filename: "front.mp4", clips[pair])
      form.add("back", filename: "back.mp4", clips[pair + 4])
      return Submission(sources: .init(kind: kind, number: pair), path: "/v1/posts", form: form)
    case .marker:
      let clip = index % 3
      post(#","title":"here","location":{"latitude":40.7,"longitude":-74}"#)
      form.add("video", filename: "video.mp4", clips[clip])
      return Submission(sources: .init(kind: kind, number: clip), path: "/v1/posts", form: form)
    case .photo:
      let image = index % 3
      post()
      for photo in 0..<Self.photosOfPost {
        form.add("photo", filename: "photo-\(photo).jpg", images[image + photo])
      }
      return Submission(sources: .init(kind: kind, number: image), path: "/v1/posts", form: form)
    case .place:
      let image = 4 + number % 2
      form.add("author", Array("author-\(number)".utf8))
      form.add("image", filename: "image.jpg", images[image])
      return Submission(
        sources: .init(kind: kind, number: image), path: "/v1/places/place-\(number)/photos", form: form)
    }
  }
}

/// A stored post or image.
struct StormMedium: Sendable, Hashable {
  /// The kind, with its name on the command line.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case take5, marker, photo, place

    /// The plural noun in figures.
    var title: String {
      switch self {
      case .take5: "moments"
      case .marker: "markers"
      case .photo: "photos"
      case .place: "images"
      }
    }
  }

  /// The kind and the sources; media with equal ones must have outputs with equal bytes.
  struct Sources: Sendable, Hashable {
    let kind: Kind
    let number: Int
  }

  let sources: Sources
  let id: PublicID

  /// The path of the API.
  var path: String { sources.kind == .place ? "/v1/images/\(id)" : "/v1/posts/\(id)" }
}
