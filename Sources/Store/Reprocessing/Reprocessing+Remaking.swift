package import Model
package import Postgres

/// The outputs of a moment follow its foreground: the clip in the inset is the one that the post names.
extension Reprocessing {
  /// Starts a run that makes the outputs of a moment again with its current foreground, in the transaction that finds
  /// them to differ.
  ///
  /// Nothing happens to a post that waits for its first outputs: their publication compares the foreground again. Nothing
  /// can happen either if the sources were not kept; the foreground is then for players alone.
  package static func remake(_ post: PublicID, _ session: Session) throws {
    let id = Parameter.text(post.description)
    guard try !session.execute(Self.statements["may_remake"], id).isEmpty else { return }
    var selection = ReprocessSelection()
    selection.ids = [post]
    let run: Int64 = try session.execute(
      Self.statements["insert_run"], .text(PublicID.now().description),
      .text(String(decoding: try selection.record, as: UTF8.self)), .bool(false), .bool(false),
      .integer(0), .double(nil)
    ).single().get("id")
    try session.execute(Self.statements["insert_item_of_post"], .integer(run), id)
    try wake(session)
  }
}
