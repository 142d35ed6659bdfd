import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model

/// The body of a search: the filters of lists, and an area of the map.
struct PostSearch: Sendable {
  let filter: PostFilter
  let page: PageRequest

  /// Reads the fields of the body; throws a problem that names every invalid field.
  ///
  /// - Parameters:
  ///   - viewer: who sees the posts.
  ///   - defined: the fields of posts that a definition names.
  init(fields: [String: JSONValue], for viewer: Viewer, defined: [String: FieldDefinition] = [:]) throws {
    var reader = FieldReader(fields, path: "")
    if reader.has("box") && reader.has("polygon") { reader.refuse("polygon", "does not go with box") }
    let expected = "expected a GeoJSON Polygon or MultiPolygon (RFC 7946) without a ring around a pole"
    let polygon = reader.value("polygon", expected) { MapArea(geoJSON: $0) }
    var filter = try PostFilter(&reader, for: viewer, fields: defined)
    if let polygon { filter.area = polygon }
    page = reader.page(limit: filter.ids.isEmpty ? nil : filter.ids.count)
    try reader.check()
    self.filter = filter
  }
}

extension MapArea {
  /// Reads a GeoJSON Polygon or MultiPolygon (RFC 7946, sections 3.1.6 and 3.1.7); returns nil for any other or an invalid
  /// value.
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

  /// Whether a value is a bounding box (RFC 7946, section 5) in two or three dimensions. Its numbers are not used.
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
