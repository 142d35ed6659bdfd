internal import HTTPServer
package import Kit
internal import Model
internal import Postgres
internal import Push
internal import Store

extension Devices: RoutedRoom {
  package static var problems: [any ProblemTable] { DeviceProblem.allCases }

  package static func routes(_ kit: Kit, _ settings: RoomSettings) -> [any RouteRoom] { [DeviceRoutes(kit: kit)] }
}

/// The routes of the devices that receive a user's notifications.
struct DeviceRoutes: RouteRoom {
  let kit: Kit
  let zones = KnownTimeZones()

  private static let maxToken = 1024
  private static let maxURL = 2000

  var routes: [Route] {
    let list = "/v1/users/{id}/devices"
    return [
      route("GET", list, access: .key([.read]), handler: listDevices),
      route("PUT", "\(list)/{token}", access: .key([.submit]), bodyLimit: JSONBody.limit, handler: saveDevice),
      route("DELETE", "\(list)/{token}", access: .key([.delete]), handler: deleteDevice),
      route("PUT", "/v1/push/messages/{id}", access: .key([.admin]), bodyLimit: JSONBody.limit, handler: sendMessage),
    ] + RegisteredDevice.Platform.allCases.compactMap { keyRoute(of: $0) }
  }

  /// The route of what browsers subscribe with at a push service; nil: it is not of browsers.
  private func keyRoute(of platform: RegisteredDevice.Platform) -> Route? {
    platform.type.subscriptionKeyName.map { name in
      route("GET", "/v1/push/\(name)", access: .anyone) { _ in try await readKey(of: platform) }
    }
  }

  private func listDevices(_ request: Request) async throws -> Response {
    let user = try owner(of: Self.owned, request)
    let devices = try await database.read { try Devices.list(of: user, $0) }
    // What addresses a phone is for its user alone, not for each client that may read.
    let isWhole = request.caller.user != nil
    return try .uncached(
      PageResponse(items: devices.map { DeviceResponse($0, isWhole: isWhole) }, next: nil))
  }

  private func saveDevice(_ request: Request) async throws -> Response {
    let (user, token) = try named(request)
    let draft = try DeviceDraft(token: token, fields: try await JSONBody.fields(of: request))
    try access.countSubmission(of: user, request)
    let caller = request.caller
    let saved = try await database.transaction { session in
      try Devices.save(draft, named: token, of: user, by: caller, zones: zones, session) {
        try request.checkVersion(of: $0, named: "device")
      }
    }
    guard let (device, isNew) = saved else {
      throw ProblemKind.invalid([FieldError("zone", "expected the name of a time zone, such as \"Europe/Berlin\"")])
    }
    return try .versioned(DeviceResponse(device, isWhole: true), device, isNew ? .created : .ok)
  }

  private func deleteDevice(_ request: Request) async throws -> Response {
    let (user, token) = try named(request)
    let missing = DeviceProblem.deviceNotFound.problem("The user has no such device.")
    return try await delete(request, else: missing) { _, session in
      try Devices.delete(token, of: user, session, check: request.checkVersion)
    }
  }

  private func readKey(of platform: RegisteredDevice.Platform) async throws -> Response {
    guard let key = try await database.read({ try Devices.subscriptionKey(of: platform, $0) }) else {
      throw DeviceProblem.vapidKeyNotFound.problem(
        "No worker has credentials for \(platform.type.owner) push services.")
    }
    return try .uncached(["key": key])
  }

  /// Says something to all users. The client names it, so that a repetition says nothing.
  private func sendMessage(_ request: Request) async throws -> Response {
    guard let id = PublicID(request.parameter("id")) else {
      throw ProblemKind.invalid([FieldError("id", "expected a UUID")])
    }
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let texts = MessageTexts(&reader)
    let url = reader.text("url", limit: Self.maxURL)
    let seconds = reader.integer("expires_in", in: 60...Self.maxMessageSeconds) ?? Self.maxMessageSeconds
    try reader.check()
    guard let texts else { throw ProblemKind.invalid([FieldError("texts", "is required")]) }
    let isSent = try await database.transaction { session in
      try Devices.send(texts, url: url, named: id, for: seconds, session)
    }
    return try .uncached(["id": "\(id)"], isSent ? .created : .ok)
  }

  /// As long as devices get other notifications.
  private static let maxMessageSeconds = 86_400

  private static let owned = "The devices are those"

  private func named(_ request: Request) throws(Problem) -> (user: String, token: String) {
    let (user, token) = (try owner(of: Self.owned, request), request.parameter("token"))
    guard 1...Self.maxToken ~= token.utf8.count, !token.utf8.contains(0) else {
      throw ProblemKind.invalid([FieldError("token", "expected 1 to \(Self.maxToken) bytes")])
    }
    return (user, token)
  }
}
