/// What another session said with NOTIFY.
package struct Notification: Sendable, Hashable {
  package let channel: String
  package let payload: String
}
