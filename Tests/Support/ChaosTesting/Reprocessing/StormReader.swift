import Crypto
import HTTPTesting
import Model
import Platform

/// Reads stored media over HTTP again and again, with all their files, and holds whatever it is told against each other.
final class StormReader: Sendable {
  /// What was read.
  struct Counts: Sendable {
    var media = 0
    var files = 0
    /// Requests that nobody answered: the service was away.
    var outages = 0
  }

  private struct Answer: Decodable {
    struct Asset: Decodable { let url: String }

    let status: String
    let assets: [String: Asset]
    let photos: [[String: Asset]]?
  }

  /// Which bytes must be the same whenever they are read, of whichever post.
  private struct File: Hashable {
    let sources: StormMedium.Sources
    let recipe: String
    let role: String
  }

  private struct State {
    var counts = Counts()
    var violations: [String] = []
    var hashes: [File: String] = [:]
    /// The recipes that were seen of the same sources: first that of before, then that of after the change.
    var recipes: [StormMedium.Sources: [String]] = [:]
  }

  private let roles: [StormMedium.Kind: StormDefinitions.Roles]
  private let port: @Sendable () -> UInt16?
  private let state = Locked(State())

  /// - Parameter port: where the service is now; nil while it is away.
  init(_ roles: [StormMedium.Kind: StormDefinitions.Roles], port: @escaping @Sendable () -> UInt16?) {
    self.roles = roles
    self.port = port
  }

  var counts: Counts { state.withLock { $0.counts } }
  var violations: [String] { state.withLock { $0.violations } }

  /// Reads all of them once, with some readers; what is read is the first recipe of its sources, or the changed one.
  func readAll(_ media: [StormMedium], readers: Int, isChanged: Bool) async throws {
    try await withThrowingTaskGroup { group in
      for reader in 0..<readers {
        group.addTask {
          for place in stride(from: reader, to: media.count, by: readers) {
            let recipe = try await self.read(media[place])
            if let recipe, self.isFirst(recipe, of: media[place]) == isChanged {
              self.object("\(media[place].path) has a set of the \(isChanged ? "first" : "changed") definition")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Reads any of them, in no order, until it is told to end.
  func poll(_ media: [StormMedium], seed: UInt64, until end: CancellationFlag) async throws {
    var random = SplitMix64(seed: seed)
    var changed: Set<StormMedium> = []
    while !end.isCancelled, let medium = media.randomElement(using: &random) {
      if let recipe = try await read(medium) {
        if !isFirst(recipe, of: medium) {
          changed.insert(medium)
        } else if changed.contains(medium) {
          object("\(medium.path) has its first set again, after the changed one")
        }
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Reads one with all its files; the recipe of all of them, nil if something did not hold.
  private func read(_ medium: StormMedium) async throws -> String? {
    let response = try await get(medium.path)
    guard response.status == 200, let answer = try? JSON.decode(Answer.self, from: response.body) else {
      return object("\(medium.path) was answered with \(response.status): \(response.text.prefix(200))")
    }
    guard answer.status == "ready" else { return object("\(medium.path) is \(answer.status)") }
    let places = medium.sources.kind == .photo ? answer.photos ?? [] : [answer.assets]
    let whole = [roles[medium.sources.kind]?.first, roles[medium.sources.kind]?.changed]
    guard places.count == (medium.sources.kind == .photo ? StormMaterial.photosOfPost : 1),
      let made = whole.first(where: { roles in places.allSatisfy { Set($0.keys) == roles } })
    else {
      return object("\(medium.path) has the roles \(places.map { $0.keys.sorted() }), which no definition makes")
    }
    var recipe: String?
    for (place, assets) in places.enumerated() {
      for (role, asset) in assets {
        let file = try await get(asset.url)
        guard file.status == 200, let told = file.headers["take5-recipe"] else {
          return object("\(role) of \(medium.path) was answered with \(file.status): \(file.text.prefix(200))")
        }
        let hash = SHA256.digest(of: file.body).hex
        if file.headers["etag"] != "\"\(hash)\"" {
          object(
            "\(role) of \(medium.path) has the tag \(file.headers["etag"] ?? "none"), its content the hash \(hash)")
        }
        guard recipe == nil || recipe == told else {
          return object("\(medium.path) has files of the recipes \(recipe ?? "") and \(told)")
        }
        recipe = told
        note(File(sources: medium.sources, recipe: told, role: "\(role) \(place)"), hash)
      }
    }
    guard let recipe else { return object("\(medium.path) has no files") }
    note(recipe, of: medium, isFirst: made == whole[0])
    return recipe
  }

  /// Asks until there is an answer: a service that is away is not at fault.
  private func get(_ path: String) async throws -> ClientResponse {
    while true {
      try Task.checkCancellation()
      if let port = port(), let answer = try? await request("GET", path, port: port),
        ![408, 429, 503].contains(answer.status)
      {
        return answer
      }
      state.withLock { $0.counts.outages += 1 }
      try await Task.sleep(for: .milliseconds(30))
    }
  }

  private func note(_ file: File, _ hash: String) {
    state.withLock { state in
      state.counts.files += 1
      let known = state.hashes.updateValue(hash, forKey: file)
      if let known, known != hash {
        state.violations.append("\(file.role) of one source and one recipe has the bytes \(known) and \(hash)")
      }
    }
  }

  private func note(_ recipe: String, of medium: StormMedium, isFirst: Bool) {
    state.withLock { state in
      state.counts.media += 1
      var known = state.recipes[medium.sources] ?? []
      if !known.contains(recipe) { known.append(recipe) }
      state.recipes[medium.sources] = known
      if known.count > 2 { state.violations.append("\(medium.path) was read with a third recipe, \(recipe)") }
      if (known[0] == recipe) != isFirst {
        state.violations.append("\(medium.path) has the roles of one definition and the recipe of the other")
      }
    }
  }

  private func isFirst(_ recipe: String, of medium: StormMedium) -> Bool {
    state.withLock { $0.recipes[medium.sources]?.first == recipe }
  }

  @discardableResult
  private func object(_ violation: String) -> String? {
    state.withLock { $0.violations.append(violation) }
    return nil
  }
}
