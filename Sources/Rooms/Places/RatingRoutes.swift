internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// The routes of how users rate places.
struct RatingRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    let single = "/v1/users/{id}/ratings/{place}"
    return [
      route("GET", "/v1/users/{id}/ratings", access: .key([.read]), readsQuery: true) { request in
        let user = try owner(of: Self.owned, request)
        return try await list(request, { $0 }, else: Self.notFound(.user, user)) { _, page, session in
          try Places.ratings(by: user, page, session)
        }
      },
      route("GET", single, access: .key([.read]), includes: true) { request in
        let (user, place) = try rated(request)
        return try await show(request, { $0 }, else: Self.ratingNotFound(place)) { _, session in
          try Places.rating(of: place, by: user, session)
        }
      },
      route("PUT", single, access: .key([.submit]), bodyLimit: JSONBody.limit, handler: ratePlace),
      route("DELETE", single, access: .key([.delete])) { request in
        let (user, place) = try rated(request)
        return try await delete(request, else: Self.ratingNotFound(place)) { _, session in
          try Places.deleteRating(of: place, by: user, session, check: request.checkVersion)
        }
      },
    ]
  }

  private static let owned = "The ratings are those"

  /// Returns the user and the place in the path; throws a problem unless the client is the user or acts as no user.
  private func rated(_ request: Request) throws(Problem) -> (user: String, place: String) {
    (try owner(of: Self.owned, request), try name(request, "place"))
  }

  private static func ratingNotFound(_ place: String) -> Problem {
    ProblemKind.ratingNotFound.problem("The user has not rated the place '\(place)'.")
  }

  private func ratePlace(_ request: Request) async throws -> Response {
    let (user, place) = try rated(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let halves: Int? = reader.value("rating", "expected a number from 1 to 5 in steps of 0.5", isRequired: true) {
      if case .number(let rating) = $0, PlaceRating.ratings.contains(rating) { Int(exactly: rating * 2) } else { nil }
    }
    try reader.check()
    try access.countSubmission(of: user, request)
    return try await show(request, { $0 }, changing: true, else: Self.notFound(.place, place)) { viewer, session in
      try Places.rate(place, halves: halves ?? 0, by: user, for: viewer, session) {
        try request.checkVersion(of: $0, named: "rating")
      }
    }
  }
}

extension PlaceRating: Versioned {
  var version: some Encodable { ["place": place, "rating": "\(rating)"] }
}
