/// The secret under which somebody asks for jobs: whoever knows it may write for what it was given.
///
/// It is chosen at random by who asks, so that it is never given twice, whatever happens to the database, and so that an
/// answer that got lost can be asked for again.
package struct Lease: Sendable, Hashable {
  /// 63 random bits, so that it is never negative.
  let number: Int64

  /// One that nobody else has.
  package init() { number = .random(in: 1 ... .max) }
}
