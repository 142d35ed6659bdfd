/// Who may see a post.
package enum Visibility: String, Codable, Sendable, CaseIterable {
  case `public`
  case friends
  case `private`
}
