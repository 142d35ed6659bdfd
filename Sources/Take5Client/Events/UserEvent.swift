/// What happens to what concerns the user.
///
/// ```swift
/// for try await event in client.events(after: last) {
///   if event.kind == .postReady, let post = event.post { await reload(post) }
///   last = event.id ?? last
/// }
/// ```
public struct UserEvent: Sendable, Hashable {
  /// The kind of an event. Ignore kinds that you do not know: later versions of the service add some.
  ///
  /// ```swift
  /// guard event.kind != .reset else { return await reloadAll() }
  /// ```
  public struct Kind: RawRepresentable, Sendable, Hashable {
    /// The name, as the service writes it.
    public let rawValue: String
    /// A kind by its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The stream begins.
    public static let start = Self(rawValue: "start")
    /// Events that were missed are no longer stored, or what was read before may be lost: read the lists again.
    public static let reset = Self(rawValue: "reset")
    /// The first look of a post of the user's is there.
    public static let postPreviewed = Self(rawValue: "post_previewed")
    /// A post of the user's is ready.
    public static let postReady = Self(rawValue: "post_ready")
    /// The media of a post of the user's were rejected.
    public static let postRejected = Self(rawValue: "post_rejected")
    /// The media of a post of the user's could not be processed.
    public static let postFailed = Self(rawValue: "post_failed")
    /// A post of a friend's is ready.
    public static let friendPosted = Self(rawValue: "friend_posted")
    /// Another user commented on a post of the user's.
    public static let comment = Self(rawValue: "comment")
    /// A reaction to a post of the user's is ready.
    public static let reaction = Self(rawValue: "reaction")
    /// Another user likes a post of the user's.
    public static let like = Self(rawValue: "like")
    /// Another user asks for friendship.
    public static let friendRequest = Self(rawValue: "friend_request")
    /// Another user has accepted friendship.
    public static let friendAccepted = Self(rawValue: "friend_accepted")
    /// The daily window has opened.
    public static let windowOpened = Self(rawValue: "window_opened")
    /// The daily window has closed.
    public static let windowClosed = Self(rawValue: "window_closed")
  }

  /// The id, after which a stream continues. Store it as it is: only the service knows what it means.
  public var id: String?
  /// The kind.
  public var kind: Kind
  /// The values of the event by name.
  public var values: [String: JSONValue]

  /// The id of the post that it is about.
  public var post: String? { text("post") }
  /// The id of the user who did it.
  public var user: String? { text("user") }
  /// The id of the comment.
  public var comment: String? { text("comment") }
  /// The id of the image.
  public var image: String? { text("image") }

  private func text(_ name: String) -> String? {
    if case .string(let text)? = values[name] { text } else { nil }
  }
}
