internal import Model

extension MapArea {
  /// Reads a GeoJSON Polygon or MultiPolygon (RFC 7946, sections 3.1.6 and 3.1.7); nil if it is none, or no sound one.
  init?(geoJSON value: JSONValue) {
    guard case .object(let object) = value, case .string(let type)? = object["type"],
      case .array(let coordinates)? = object["coordinates"],
      Set(object.keys).isSubset(of: ["type", "coordinates", "bbox"]), object["bbox"].map(Self.isBox) ?? true
    else { return nil }
    let polygons: [[[Corner]]?]
    switch type {
    case "Polygon": polygons = [Self.rings(coordinates)]
    case "MultiPolygon":
      polygons = coordinates.map { polygon in
        if case .array(let rings) = polygon { Self.rings(rings) } else { nil }
      }
    default: return nil
    }
    guard !polygons.contains(nil) else { return nil }
    self.init(polygons: polygons.compactMap(\.self))
  }

  /// Whether it is a box (RFC 7946, section 5) in two or three dimensions; nothing else is asked of it.
  private static func isBox(_ value: JSONValue) -> Bool {
    guard case .array(let numbers) = value else { return false }
    return [4, 6].contains(numbers.count) && numbers.allSatisfy(\.isNumber)
  }

  private static func rings(_ values: [JSONValue]) -> [[Corner]]? {
    guard !values.isEmpty else { return nil }
    var rings: [[Corner]] = []
    for value in values {
      guard case .array(let positions) = value, positions.count >= 4 else { return nil }
      var ring: [Corner] = []
      for position in positions {
        guard case .array(let numbers) = position, 2...3 ~= numbers.count, case .number(let longitude) = numbers[0],
          case .number(let latitude) = numbers[1], numbers.allSatisfy(\.isNumber)
        else { return nil }
        ring.append(Corner(longitude, latitude))
      }
      guard ring.first == ring.last else { return nil }
      rings.append(ring)
    }
    return rings
  }
}
