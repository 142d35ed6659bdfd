import Crypto
import HTTPTesting
import Model
import Platform
import SeededRandom
import WaitTesting

/// Reads stored media with all their files over HTTP, repeatedly, and checks that they are consistent.
final class StormReader: Sendable {
  /// The numbers of media and files that were read.
  struct Counts: Sendable {
    var media = 0
    var files = 0
  }

  private struct Reply: Decodable {
    struct Asset: Decodable { let url: String }

    let status: String
    let assets: [String: Asset]
    let photos: [[String: Asset]]?
  }

  /// The key of a file, whose bytes must always be the same.
  private struct File: Hashable {
    let sources: StormMedium.Sources
    let recipe: String
    let role: String
  }

  private struct State {
    var counts = Counts()
    var violations: [String] = []
    var hashes: [File: String] = [:]
    /// The recipes of the same sources: the one before the change, then the one after it.
    var recipes: [StormMedium.Sources: [String]] = [:]
  }

  private let roles: [StormMedium.Kind: StormDefinitions.Roles]
  private let client: PostClient
  private let state = Locked(State())

  init(_ roles: [StormMedium.Kind: StormDefinitions.Roles], _ client: PostClient) {
    self.roles = roles
    self.client = client
  }

  var counts: Counts { state.withLock { $0.counts } }
  var violations: [String] { state.withLock { $0.violations } }

  /// Reads all media once with several tasks, and checks that they have the first or the changed recipe.
  func readAll(_ media: [StormMedium], readers: Int, isChanged: Bool) async throws {
    try await withThrowingTaskGroup { group in
      for reader in 0..<readers {
        group.addTask {
          for medium in stride(from: reader, to: media.count, by: readers).map({ media[$0] }) {
            let recipe = try await self.read(medium)
            if let recipe, self.isFirst(recipe, of: medium) == isChanged {
              self.report("\(medium.path) has assets of the \(isChanged ? "first" : "changed") definition")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Reads media in random order until `end`.
  func poll(_ media: [StormMedium], seed: UInt64, until end: CancellationFlag) async throws {
    var random = SplitMix64(seed: seed)
    var changed: Set<StormMedium> = []
    let deadline = Deadline("the end of the storm", within: .seconds(3600))
    while !end.isCancelled, let medium = media.randomElement(using: &random) {
      try deadline.check()
      if let recipe = try await read(medium) {
        if !isFirst(recipe, of: medium) {
          changed.insert(medium)
        } else if changed.contains(medium) {
          report("\(medium.path) has its first assets again, after the changed ones")
        }
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Reads one medium with all its files, and returns their recipe; nil after a violation.
  private func read(_ medium: StormMedium) async throws -> String? {
    let response = try await client.respond("GET", medium.path)
    guard response.status == 200, let reply = try? JSON.decode(Reply.self, from: response.body) else {
      return report("the response for \(medium.path) was \(response.status): \(response.text.prefix(200))")
    }
    guard reply.status == "ready" else { return report("\(medium.path) is \(reply.status)") }
    let assetsByPhoto = medium.sources.kind == .photo ? reply.photos ?? [] : [reply.assets]
    let definitions = [roles[medium.sources.kind]?.first, roles[medium.sources.kind]?.changed]
    guard assetsByPhoto.count == (medium.sources.kind == .photo ? StormMaterial.photosOfPost : 1),
      let definition = definitions.first(where: { roles in assetsByPhoto.allSatisfy { Set($0.keys) == roles } })
    else {
      return report("\(medium.path) has the roles \(assetsByPhoto.map { $0.keys.sorted() }) of no definition")
    }
    var recipe: String?
    for (photo, assets) in assetsByPhoto.enumerated() {
      for (role, asset) in assets {
        let file = try await client.respond("GET", asset.url)
        guard file.status == 200, let fileRecipe = file.headers["take5-recipe"] else {
          return report("the response for \(role) of \(medium.path) was \(file.status): \(file.text.prefix(200))")
        }
        let hash = SHA256.digest(of: file.body).hex
        if file.headers["etag"] != "\"\(hash)\"" {
          report("\(role) of \(medium.path) has the tag \(file.headers["etag"] ?? "none") and the hash \(hash)")
        }
        guard recipe == nil || recipe == fileRecipe else {
          return report("\(medium.path) has files of the recipes \(recipe ?? "") and \(fileRecipe)")
        }
        recipe = fileRecipe
        record(File(sources: medium.sources, recipe: fileRecipe, role: "\(role) \(photo)"), hash)
      }
    }
    guard let recipe else { return report("\(medium.path) has no files") }
    record(recipe, of: medium, isFirst: definition == definitions[0])
    return recipe
  }

  private func record(_ file: File, _ hash: String) {
    state.withLock { state in
      state.counts.files += 1
      let known = state.hashes.updateValue(hash, forKey: file)
      if let known, known != hash {
        state.violations.append("\(file.role) of the same sources and recipe has the hashes \(known) and \(hash)")
      }
    }
  }

  private func record(_ recipe: String, of medium: StormMedium, isFirst: Bool) {
    state.withLock { state in
      state.counts.media += 1
      var known = state.recipes[medium.sources] ?? []
      if !known.contains(recipe) { known.append(recipe) }
      state.recipes[medium.sources] = known
      if known.count > 2 { state.violations.append("\(medium.path) has a third recipe, \(recipe)") }
      if (known[0] == recipe) != isFirst {
        state.violations.append("\(medium.path) has the roles of one definition and the recipe of the other")
      }
    }
  }

  private func isFirst(_ recipe: String, of medium: StormMedium) -> Bool {
    state.withLock { $0.recipes[medium.sources]?.first == recipe }
  }

  @discardableResult
  private func report(_ violation: String) -> String? {
    state.withLock { $0.violations.append(violation) }
    return nil
  }
}
