public import Foundation

extension UploadQueue {
  /// Submits a moment: one clip of each camera.
  ///
  /// Returns as soon as it is stored here; the app may then delete its own files.
  ///
  /// - Parameters:
  ///   - front: The file of the front camera.
  ///   - back: The file of the back camera.
  ///   - caption: The text.
  ///   - foreground: The camera that is shown in the inset.
  ///   - location: Where it was recorded.
  ///   - visibility: Who sees it.
  ///   - capturedAt: When it was recorded, by which the daily window judges it, also if it is sent later.
  @discardableResult
  public func film(
    front: URL, back: URL, caption: String? = nil, foreground: Camera = .front, location: Coordinate? = nil,
    visibility: PostVisibility = .public, capturedAt: Date = Date()
  ) async throws(Take5Error) -> Upload<Post> {
    let fields = Self.fields(.take5, caption, visibility, location: location, capturedAt: capturedAt)
      .merging(["foreground": .string(foreground.rawValue)]) { $1 }
    return try await submit(fields, [("front", front), ("back", back)])
  }

  /// Submits up to ten photos as one post, which may belong to a place.
  @discardableResult
  public func photos(
    _ photos: [URL], caption: String? = nil, place: Place? = nil, location: Coordinate? = nil,
    visibility: PostVisibility = .public
  ) async throws(Take5Error) -> Upload<Post> {
    let fields = Self.fields(.photo, caption, visibility, location: location, place: place)
    return try await submit(fields, photos.map { ("photo", $0) })
  }

  /// Submits a marker on a map.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - location: Where it is.
  ///   - caption: The text.
  ///   - image: A photo, in place of a video.
  ///   - video: A clip.
  ///   - fields: What a definition of the service names besides.
  ///   - visibility: Who sees it.
  @discardableResult
  public func marker(
    title: String, location: Coordinate, caption: String? = nil, image: URL? = nil, video: URL? = nil,
    fields: [String: JSONValue] = [:], visibility: PostVisibility = .public
  ) async throws(Take5Error) -> Upload<Post> {
    var members = Self.fields(.marker, caption, visibility, location: location)
    members["title"] = .string(title)
    if !fields.isEmpty { members["fields"] = .object(fields) }
    return try await submit(members, image.map { [("image", $0)] } ?? video.map { [("video", $0)] } ?? [])
  }

  /// Submits a reaction to a post: a selfie.
  @discardableResult
  public func react(to post: String, image: URL) async throws(Take5Error) -> Upload<ImageRecord> {
    try await submit([:], [("image", image)], reactionTo: post)
  }

  private func submit<Record>(
    _ fields: [String: JSONValue], _ parts: [(name: String, url: URL)], reactionTo post: String? = nil
  ) async throws(Take5Error) -> Upload<Record> {
    guard let user = try await connection.sessions.current()?.user else { throw .signedOut }
    var files: [UploadRecord.File] = []
    for (index, part) in parts.enumerated() {
      let suffix = part.url.pathExtension.isEmpty ? "" : "." + part.url.pathExtension
      files.append(
        UploadRecord.File(
          part: part.name, name: "\(index)-\(part.name)\(suffix)", length: try FileSlice.length(part.url)))
    }
    let record = UploadRecord(
      id: UUID(), user: user, createdAt: Date(), post: post, fields: fields, files: files, key: UUID().uuidString)
    return try await add(record, files: parts.map(\.url))
  }

  private static func fields(
    _ kind: PostKind, _ caption: String?, _ visibility: PostVisibility, location: Coordinate?, place: Place? = nil,
    capturedAt: Date? = nil
  ) -> [String: JSONValue] {
    var fields: [String: JSONValue] = ["kind": .string(kind.rawValue), "visibility": .string(visibility.rawValue)]
    fields["caption"] = caption.map(JSONValue.string)
    fields["location"] = location?.json
    fields["place"] = place?.json
    fields["captured_at"] = capturedAt.map { .string(JSONCoding.text($0)) }
    return fields
  }
}

extension UploadRecord {
  var kind: PostKind? { text("kind").map(PostKind.init(rawValue:)) }
  var caption: String? { text("caption") }

  private func text(_ name: String) -> String? {
    if case .string(let text)? = fields[name] { text } else { nil }
  }
}
