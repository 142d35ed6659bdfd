package import Store

/// Makes the media of posts and images again from their sources, whatever they have now: their current sets count as
/// damaged. What became of each; one that is not named was not made.
package typealias Remake = @Sendable ([Subject]) async throws -> [Subject: RemakeOutcome]

/// What became of media that were to be made again.
package enum RemakeOutcome: Sendable, Hashable {
  case done
  /// Why they were not, in words.
  case failed(String)
}
