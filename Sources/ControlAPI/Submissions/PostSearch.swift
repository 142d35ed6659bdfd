import FoundationEssentials
internal import HTTPServer
internal import Model

/// A search in a part of the map, as the body of a request.
struct PostSearch: Sendable {
  let filter: PostFilter
  let page: PageRequest

  /// Reads it; throws a problem that names every wrong field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    var filter = PostFilter()
    filter.area = reader.value("polygon", "expected a GeoJSON Polygon or MultiPolygon (RFC 7946)", isRequired: true) {
      MapArea(geoJSON: $0)
    }
    filter.authors = Set([reader.text("author", limit: 200, mayBeEmpty: false)].compactMap(\.self))
    filter.kind = reader.choice("kind", of: PostKind.self)
    filter.place = reader.text("place", limit: 200, mayBeEmpty: false)
    filter.from = reader.time("from").map { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }
    filter.to = reader.time("to").map { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }
    let visibilities: Set<Visibility>? = reader.value("visibility", "expected a list of public, friends, private") {
      Self.set($0)
    }
    filter.visibilities = visibilities.flatMap { $0.isEmpty ? nil : $0 } ?? [.public]
    var page = PageRequest()
    if let limit = reader.whole("limit", in: PageRequest.limits) { page.limit = limit }
    page.after = reader.value("cursor", "expected what `next` of a page held") { value in
      if case .string(let text) = value { PageCursor(text) } else { nil }
    }
    let errors = reader.finish()
    guard errors.isEmpty else { throw JSONBody.problem(errors) }
    self.filter = filter
    self.page = page
  }

  private static func set<Value: RawRepresentable<String> & Hashable>(_ value: JSONValue) -> Set<Value>? {
    guard case .array(let values) = value else { return nil }
    var found: Set<Value> = []
    for value in values {
      guard case .string(let text) = value, let one = Value(rawValue: text) else { return nil }
      found.insert(one)
    }
    return found
  }
}
