extension Sequence where Element: Sendable {
  /// Transforms the elements, several at the same time, and hands over each result as soon as it is there, in no
  /// order.
  ///
  /// - Parameters:
  ///   - limit: the largest number of elements that are transformed at the same time, at least 1.
  ///   - receive: is called for one result after the other.
  /// - Throws: the first error, after cancelling and awaiting the running transformations.
  package func forEach<Result: Sendable>(
    concurrently limit: Int, _ transform: @escaping @Sendable (Element) async throws -> Result,
    receive: (Element, Result) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: (Element, Result).self) { group in
      var rest = makeIterator()
      func start() {
        guard let element = rest.next() else { return }
        group.addTask { (element, try await transform(element)) }
      }
      for _ in 0..<limit { start() }
      while let (element, result) = try await group.next() {
        start()
        try await receive(element, result)
      }
    }
  }
}
