import HTTPTesting
import MediaFixtures
import Platform

/// The few small files that the media of a storm are submitted with, each many times.
struct StormMaterial: Sendable {
  /// One submission.
  struct Submission {
    let sources: StormMedium.Sources
    let path: String
    let form: MultipartForm
  }

  /// Half of the posts are moments, three in ten are markers, the others photos.
  private static let posts: [StormMedium.Kind] = [
    .take5, .marker, .photo, .take5, .take5, .marker, .take5, .photo, .take5, .marker,
  ]

  /// In each post of photos, so that a set has assets of one role at two places.
  static let photosOfPost = 2

  private let clips: [[UInt8]]
  private let pictures: [[UInt8]]

  /// Makes the files.
  init() throws {
    // Moments shorter than the service takes in unless its definition says so, but long enough for a marker.
    clips = try (0..<8).map { number in
      var clip = MarkedClip(
        MarkColor.allCases[number % 3], width: 144, height: 256, seconds: 0.8, framesPerSecond: 15,
        tone: .init(300 + 70 * Double(number)))
      clip.firstNumber = 16 * number
      return try TemporaryFile.bytes(of: clip.write())
    }
    pictures = try (0..<6).map { number in
      try PhotoFixture.jpeg(
        PhotoFixture.image(width: 200, height: 150) { x, y in
          (UInt8(truncatingIfNeeded: x &+ number * 40), UInt8(truncatingIfNeeded: y), UInt8(number * 30))
        })
    }
  }

  /// What is submitted under a number: posts first, then images.
  func submission(_ number: Int, posts: Int) -> Submission {
    let kind = number < posts ? Self.posts[number % Self.posts.count] : .place
    // Of each kind the sources take turns, whatever the turns of the kinds are.
    let turn = number / Self.posts.count + number
    var form = MultipartForm()
    func post(_ more: String = "") {
      form.add("post", Array(#"{"kind":"\#(kind.rawValue)","author":"author-\#(number)"\#(more)}"#.utf8))
    }
    switch kind {
    case .take5:
      let pair = turn % 4
      post(pair % 2 == 0 ? #","foreground":"back""# : "")
      form.add("front", filename: "front.mp4", clips[pair])
      form.add("back", filename: "back.mp4", clips[pair + 4])
      return Submission(sources: .init(kind: kind, number: pair), path: "/v1/posts", form: form)
    case .marker:
      let clip = turn % 3
      post(#","title":"here","location":{"latitude":40.7,"longitude":-74}"#)
      form.add("video", filename: "video.mp4", clips[clip])
      return Submission(sources: .init(kind: kind, number: clip), path: "/v1/posts", form: form)
    case .photo:
      let picture = turn % 3
      post()
      for place in 0..<Self.photosOfPost {
        form.add("photo", filename: "photo-\(place).jpg", pictures[picture + place])
      }
      return Submission(sources: .init(kind: kind, number: picture), path: "/v1/posts", form: form)
    case .place:
      let picture = 4 + number % 2
      form.add("author", Array("author-\(number)".utf8))
      form.add("image", filename: "image.jpg", pictures[picture])
      return Submission(
        sources: .init(kind: kind, number: picture), path: "/v1/places/place-\(number)/photos", form: form)
    }
  }
}
