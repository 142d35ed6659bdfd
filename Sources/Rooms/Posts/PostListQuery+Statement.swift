internal import Kit
import Model
import Postgres
import Store

/// What a list of posts executes, and the ranges of an index that it reads.
extension PostListQuery {
  /// The statement, whose parameters are `parameters`.
  var statement: Statement {
    let conditions = conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
    if filter.order == .distance {
      // OFFSET keeps the planner from the index of positions.
      let people = people.map {
        "(SELECT post.* FROM \($0) AS keys (key) JOIN post ON post.author = keys.key OFFSET 0) AS post"
      }
      return Posts.statements["posts_by_distance"].filled(
        people == nil ? conditions : "people.\(conditions)",
        ["source": people ?? "post", "conditions": conditions, "distance": Self.distance])
    }
    // OFFSET keeps the planner from another index, whose rows it would compare with those of the piece.
    let source = sorted.map { "(SELECT * FROM post WHERE position <@ $\($0)::polygon OFFSET 0) AS post" } ?? "post"
    let within = sorted.map { "within.\($0)." } ?? ""
    if isCounted {
      return Posts.statements["posts_by_cell"].filled(
        within + conditions, ["source": source, "conditions": conditions])
    }
    func list(_ suffix: String, limit: String = "$6::int", besides condition: String = "") -> Statement {
      Posts.statements["posts"].filled(
        suffix,
        [
          "source": source, "conditions": conditions + condition, "time": time,
          "since": filter.order == .taken ? time : "created_at",
          "distance": filter.near == nil ? "NULL::bigint" : Self.distance, "limit": limit,
        ])
    }
    guard let keys else { return list(within + conditions) }
    var rows = keys.rows.replacing("$", with: "$\(parameters.count)").replacing("viewer", with: "$7")
    if keys.areMany {
      let latest = list("latest", limit: "1").text
      rows = "(\(Posts.statements["newest_keys"].filled(keys.name, ["keys": rows, "latest": latest]).text))"
    }
    let each = list("key", besides: keys.areMany ? " AND \(time) >= keys.since" : "").text
    return Posts.statements["posts_by_key"].filled("\(keys.name).\(conditions)", ["keys": rows, "list": each])
  }

  /// The column whose latest come first.
  private var time: String {
    filter.order == .taken ? "taken_at" : filter.updatedSince == nil ? "created_at" : "updated_at"
  }

  /// The keys whose posts are each a separate range of an index.
  struct Keys {
    let name: String
    let column: String
    /// SQL with `$` for the parameter.
    let rows: String
    let parameter: Parameter
    /// Whether there may be so many that the newest post of each is read first.
    var areMany = false
  }

  /// A user and the friends, as rows.
  static let friends = "(SELECT $::text UNION ALL SELECT target FROM relation WHERE user_id = $ AND kind = 'friend')"

  /// Nil if there is one range.
  var keys: Keys? {
    if filter.order != .newest || sorted != nil || isCounted { return nil }
    if let user = filter.feed, filter.place == nil {
      return Keys(name: "of_feed", column: "author", rows: Self.friends, parameter: .text(user), areMany: true)
    }
    if isByPlace {
      let rows = """
        (SELECT place.id FROM place
        WHERE place.categories @> ARRAY[$::text] AND place.is_known AND (NOT place.is_hidden OR viewer::text IS NULL))
        """
      return Keys(
        name: "of_category", column: "place_id", rows: rows, parameter: .text(filter.category), areMany: true)
    }
    func key(_ column: String, _ type: String, _ parameter: Parameter) -> Keys {
      Keys(name: "by_key", column: column, rows: "unnest($::\(type)[])", parameter: parameter)
    }
    if let cells { return key("map_cell", "int", .integers(cells.map(Int64.init))) }
    if filter.authors.count > 1 { return key("author", "text", .texts(filter.authors)) }
    // The index of kinds has the times of submission.
    let isByKind =
      filter.kinds.count > 1 && filter.authors.isEmpty && filter.place == nil && filter.ids.isEmpty
      && filter.updatedSince == nil
    return isByKind ? key("kind", "text", kinds) : nil
  }

  var kinds: Parameter { .texts(filter.kinds.map(\.rawValue).sorted()) }
}

extension PostFilter {
  /// Whether what is rare is found by an index that only bitmaps read: a category, or fields of posts that nothing else bounds.
  var needsBitmaps: Bool { category != nil || fields != nil && feed == nil && authors.isEmpty && place == nil }
}
