/// A list from whose start elements are removed.
package struct JobList<Element> {
  private(set) var elements: [Element?] = []
  private var first = 0

  package init() {}

  package var isEmpty: Bool { first == elements.count }

  package mutating func append(_ element: Element) { elements.append(element) }

  package mutating func popFirst() -> Element? {
    guard first < elements.count else { return nil }
    let element = elements[first].take()
    first += 1
    // Removed jobs make room once they are half of the list.
    if first > elements.count / 2 {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }
}
