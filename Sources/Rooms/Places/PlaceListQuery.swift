import Model
import Postgres
import Store

/// The statement of a list of places, for one piece of the area of its filter.
struct PlaceListQuery {
  private(set) var parameters: [Parameter]
  private var conditions: [String] = []
  private let order: PlaceOrder
  private let isNear: Bool
  private let viewer: Viewer

  /// What distances are subtracted from, in millimeters: the nearest has the largest key.
  private static let farthest = Int64(Nearness.distances.upperBound) * 1000

  /// - Parameter nearest: of a list by distance, what is read for the piece.
  init(
    _ filter: PlaceFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest,
    _ nearest: NearestFirst? = nil
  ) {
    order = filter.order
    isNear = filter.near != nil
    self.viewer = viewer
    parameters = [
      .integer(page.after?.time ?? .max), .integer(page.after?.id ?? .max), .integer(page.limit + 1), viewer.parameter,
    ]
    if let near = filter.near {
      // The parameters 5 to 7.
      parameters += [
        .double(near.center.latitude), .double(near.center.longitude), .integer(near.meters * 1000),
      ]
      conditions.append("\(Self.distance) <= $7::bigint")
    }
    if let nearest {
      // The parameters 8 and 9.
      parameters += [.double(nearest.longitude), .integer(nearest.count)]
    }
    if filter.order == .distance, let area = filter.area {
      let within = area.condition(from: parameters.count + 1)
      parameters += within.parameters
      conditions.append(within.text)
    }
    if let category = filter.category { require("categories @> ARRAY[$]", .text(category)) }
    if let piece {
      let polygon = Parameter.text(PostListQuery.polygon(piece.ring))
      // The places of a small area are found by the index of positions. For a larger one the first of all places are filtered.
      if nearest != nil || piece.cells(limit: PostListQuery.maxCells) != nil {
        require("position <@ $::polygon", polygon)
      } else {
        // The planner takes every polygon for a small one, and would read all places; of CASE it expects half of the rows.
        require("CASE WHEN position <@ $::polygon THEN true ELSE false END", polygon)
      }
    }
  }

  /// The statement of the places that everybody knows, whose parameters are `parameters`.
  var statement: Statement {
    guard order == .distance else { return Places.statements["places"].filled(name, arguments) }
    return Places.statements["places_by_distance"].filled(name, arguments)
  }

  /// The same of the places whose coordinates only posts for friends say.
  var statementOfFriends: Statement { Places.statements["places_of_friends"].filled(name, arguments) }

  private var arguments: [String: String] {
    let key =
      switch order {
      case .posts: "post_count"
      // A user sees no more of others' collections than their number here would say.
      case .saves: viewer == .unrestricted ? "save_count" : "favourite_count"
      case .distance: "(\(Self.farthest) - \(Self.distance))"
      }
    return [
      "conditions": conditions.isEmpty ? "true" : conditions.joined(separator: " AND "), "key": key,
      "distance": isNear ? Self.distance : "NULL::bigint",
    ]
  }

  private var name: String { arguments.sorted { $0.key < $1.key }.map(\.value).joined(separator: ".") }

  private static let distance = PostListQuery.distance(latitude: "$5::float8", longitude: "$6::float8")

  private mutating func require(_ condition: String, _ parameter: Parameter) {
    parameters.append(parameter)
    conditions.append(condition.replacing("$", with: "$\(parameters.count)"))
  }
}
