/// A place by the app's own names; the service stores them as they come.
package struct Place: Codable, Sendable, Hashable {
  package let id: String
  package let name: String?
  package let coordinate: Coordinate?

  package init(id: String, name: String?, coordinate: Coordinate?) {
    self.id = id
    self.name = name
    self.coordinate = coordinate
  }
}
