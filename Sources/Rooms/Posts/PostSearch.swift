import FoundationEssentials
internal import HTTPServer
internal import Model

/// The body of a search for posts in an area of the map.
struct PostSearch: Sendable {
  let filter: PostFilter
  let page: PageRequest

  /// Reads the fields of the body; throws a problem that names every invalid field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    var filter = PostFilter()
    filter.area = reader.value("polygon", "expected a GeoJSON Polygon or MultiPolygon (RFC 7946)", isRequired: true) {
      MapArea(geoJSON: $0)
    }
    filter.authors =
      reader.value("author", "expected 1 to \(MaxLength.name) characters, or a list of up to 100 such texts") {
        Self.authors($0)
      } ?? []
    filter.kind = reader.choice("kind", of: PostKind.self)
    filter.place = reader.text("place", limit: MaxLength.name, allowsEmpty: false)
    filter.from = reader.time("from").map(\.microseconds)
    filter.to = reader.time("to").map(\.microseconds)
    let visibilities: Set<Visibility>? = reader.value("visibility", "expected a list of public, friends, private") {
      Self.set($0)
    }
    filter.visibilities = visibilities.flatMap { $0.isEmpty ? nil : $0 } ?? [.public]
    let statuses: Set<PostStatus>? = reader.value(
      "status", "expected a list of " + PostStatus.allCases.map(\.rawValue).joined(separator: ", ")
    ) { Self.set($0) }
    filter.statuses = statuses.flatMap { $0.isEmpty ? nil : $0 } ?? [.ready]
    var page = PageRequest()
    if let limit = reader.integer("limit", in: PageRequest.limits) { page.limit = limit }
    page.after = reader.value("cursor", "expected the value of `next` from the previous page") { value in
      if case .string(let text) = value { PageCursor(text) } else { nil }
    }
    try reader.check()
    self.filter = filter
    self.page = page
  }

  /// Reads one author, or a list.
  private static func authors(_ value: JSONValue) -> [String]? {
    let values = if case .array(let values) = value { values } else { [value] }
    let texts = values.compactMap { value -> String? in if case .string(let text) = value { text } else { nil } }
    let areValid = texts.allSatisfy {
      1...MaxLength.name ~= $0.unicodeScalars.count && !$0.unicodeScalars.contains("\0")
    }
    return texts.count == values.count && texts.count <= 100 && areValid ? QueryReader.distinct(texts) : nil
  }

  static func set<Value: RawRepresentable<String> & Hashable>(_ value: JSONValue) -> Set<Value>? {
    guard case .array(let values) = value else { return nil }
    var found: Set<Value> = []
    for value in values {
      guard case .string(let text) = value, let one = Value(rawValue: text) else { return nil }
      found.insert(one)
    }
    return found
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
