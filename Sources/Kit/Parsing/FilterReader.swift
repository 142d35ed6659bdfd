package import Model

/// What the filters of a list are read from: the parameters of a query, or the fields of a body with the same names.
package protocol FilterReader {
  func has(_ name: String) -> Bool
  /// Reads a name or an id that an app assigned.
  mutating func name(_ name: String) -> String?
  /// Reads up to 100 of them, each once and in order; empty if there is none.
  mutating func names(_ name: String) -> [String]
  /// Reads up to 100 ids; empty if there is none.
  mutating func ids(_ name: String) -> [PublicID]
  /// Reads values of an enumeration; empty if there is none.
  mutating func choices<Value: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Value.Type
  ) -> Set<Value>
  /// Reads whether something is wanted; it is not, if nothing says so.
  mutating func flag(_ name: String) -> Bool
  /// Reads a time (RFC 3339); returns microseconds since 1970-01-01 UTC.
  mutating func microseconds(_ name: String) -> Int64?
  mutating func whole(_ name: String, in range: ClosedRange<Int>) -> Int?
  /// Reads as many numbers.
  mutating func decimals(_ name: String, count: Int, _ expected: String) -> [Double]?
  /// Reads the conditions on fields that a definition names, by name.
  mutating func fieldConditions(_ definitions: [String: FieldDefinition]) -> [String: FieldFilter.Condition]
  /// Adds an error.
  mutating func refuse(_ name: String, _ detail: String)
}

extension FilterReader {
  /// Reads a bounding box: west, south, east, north.
  package mutating func box(_ name: String) -> MapArea? {
    let expected = "west,south,east,north in degrees, such as 13.3,52.4,13.5,52.6"
    guard let numbers = decimals(name, count: 4, expected) else { return nil }
    let area = MapArea(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
    if area == nil { refuse(name, "expected \(expected)") }
    return area
  }

  /// Reads a point, as `near` or as `latitude` and `longitude`, and the distance from it in meters, 5,000 if it is absent.
  package mutating func near() -> Nearness? {
    let (isPoint, isPair) = (has("near"), has("latitude") || has("longitude"))
    guard isPoint || isPair else {
      if whole("radius", in: Nearness.distances) != nil { refuse("radius", "requires near") }
      return nil
    }
    let meters = whole("radius", in: Nearness.distances) ?? 5000
    let point = decimals("near", count: 2, Self.point)
    let pair = isPair ? pair() : nil
    if isPoint && isPair { refuse("near", "does not go with latitude and longitude") }
    guard let point = point ?? pair else { return nil }
    let near = Nearness(longitude: point[0], latitude: point[1], meters: meters)
    if near == nil, pair == nil { refuse("near", Self.order(of: point)) }
    return near
  }

  private static var point: String { "longitude,latitude in degrees, such as 13.4,52.5" }

  /// Says what is wrong with a point: a latitude that only a longitude can be shows that they are swapped.
  private static func order(of point: [Double]) -> String {
    let isSwapped = (-90...90).contains(point[0]) && (-180...180).contains(point[1])
    return "expected \(self.point)" + (isSwapped ? ": the longitude comes first, as in \(point[1]),\(point[0])" : "")
  }

  private mutating func pair() -> [Double]? {
    let longitude = degrees("longitude", in: -180...180)
    let latitude = degrees("latitude", in: -90...90)
    return longitude.flatMap { longitude in latitude.map { [longitude, $0] } }
  }

  private mutating func degrees(_ name: String, in range: ClosedRange<Int>) -> Double? {
    guard has(name) else {
      refuse(name, "is required: latitude and longitude are one point")
      return nil
    }
    let expected = "degrees from \(range.lowerBound) to \(range.upperBound)"
    guard let number = decimals(name, count: 1, expected)?.first else { return nil }
    if abs(number) <= Double(range.upperBound) { return number }
    refuse(name, "expected \(expected)")
    return nil
  }

  /// Reads the order of a list; the one by distance requires a point.
  package mutating func order<Order: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, near: Nearness?, distance: Order
  ) -> Order? {
    guard let text = self.name(name) else { return nil }
    let order = Order(named: text)
    if order == nil { refuse(name, "expected one of " + Order.allCases.map(\.rawValue).joined(separator: ", ")) }
    if order == distance && near == nil { refuse(name, "requires near") }
    return order
  }

  /// Reads `limit` and `cursor` of a list.
  ///
  /// - Parameter limit: the limit if there is none; nil: that of every list.
  package mutating func page(limit: Int? = nil) -> PageRequest {
    var page = PageRequest()
    if let limit { page.limit = limit }
    if let limit = whole("limit", in: PageRequest.limits) { page.limit = limit }
    if let text = name("cursor") {
      page.after = PageCursor(text)
      if page.after == nil { refuse("cursor", "expected the value of `next` from the previous page") }
    }
    return page
  }
}
