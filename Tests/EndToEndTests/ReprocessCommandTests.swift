import Definitions
import FoundationEssentials
import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Reprocessing commands", .tags(.process), .timeLimit(.minutes(60)))
struct ReprocessCommandTests {
  private func json(_ command: Take5Command) throws -> API.Value {
    let line = try #require(command.output.split(separator: "\n").last, "\(command.errors)")
    return try JSONDecoder().decode(API.Value.self, from: Data(line.utf8))
  }

  /// Starts a service and submits a moment and a photo post, which become ready.
  private func service(_ more: [String] = []) async throws -> (service: Service, moment: PublicID, photo: String) {
    let service = try await Service(more, shipped: true)
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    let photo = try await service.api().submit(
      "/v1/posts",
      [
        ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)),
        ("photo", try StoreCommandTests.photo((20, 180, 90))),
      ])
    #expect(photo["status"]?.text == "ready")
    return (service, moment.id, try #require(photo["id"]?.text))
  }

  /// The entity tag and the recipe of each file of a post, by role.
  private func files(of post: String, _ service: Service) async throws -> [String: [String]] {
    let response = try await service.api().get("/v1/posts/\(post)")
    var urls: [String: String] = [:]
    if case .object(let assets)? = response["assets"] {
      for (role, asset) in assets { urls[role] = asset["url"]?.text }
    }
    for (index, photo) in (response["photos"]?.items ?? []).enumerated() {
      if case .object(let assets) = photo {
        for (role, asset) in assets { urls["\(role) \(index)"] = asset["url"]?.text }
      }
    }
    var files: [String: [String]] = [:]
    for (role, url) in urls {
      let response = try await service.api().get(url).response
      #expect(response.status == 200)
      files[role] = ["etag", "take5-recipe"].map { response.headers[$0] ?? "" }
    }
    return files
  }

  /// The built-in definition of moments, with smaller posters.
  private func changed(in folder: String) throws -> String {
    let text = try Document("jobs/take5-post.json").text
      .replacing("\"version\": 4", with: "\"version\": 5").replacing("\"long_edge\": 1280", with: "\"long_edge\": 640")
    let path = "\(folder)/changed.json"
    try Descriptor(writing: path, replacing: true).write(Array(text.utf8))
    return path
  }

  @Test("items that would not change are skipped, and a forced run makes the same bytes, local or by a worker")
  func deterministic() async throws {
    let (service, moment, photo) = try await service()
    let access = ["--data", service.data, "--json"]
    let before = try await [files(of: moment.description, service), files(of: photo, service)]
    #expect(before[0].count == 9 && before[1].count >= 2)
    #expect(Set(before[0].values.map { $0[1] }).count == 1, "all assets of a set have one recipe")

    let skipped = try json(try await Take5Command.run(["reprocess"] + access))
    #expect(skipped["items"]?["skipped"]?.number == 2 && skipped["items"]?["done"]?.number == 0)
    for local in [[], ["--local"]] {
      let forced = try await Take5Command.run(["reprocess", "--force"] + local + access)
      #expect(forced.status == 0, "\(forced.errors)")
      #expect(try json(forced)["items"]?["done"]?.number == 2)
      #expect(try await [files(of: moment.description, service), files(of: photo, service)] == before)
    }
    // Each forced run retires both sets, which have the same blobs, as the first outputs did with those of first looks, if these came first.
    let retired =
      "FROM asset_set WHERE retired_at IS NOT NULL AND job NOT IN (SELECT public_id FROM job_done WHERE kind = 'look')"
    #expect(try await service.count("SELECT count(*)::int \(retired)") == 4)
    let verified = try await Take5Command.run(["verify", "--deep"] + access)
    #expect(verified.status == 0, "\(verified.output)")
    try await service.stop()
  }

  @Test("media of every kind are made again by the definition of these media, by a worker and locally")
  func kinds() async throws {
    let (service, _, photo) = try await service()
    let api = try service.api()
    let (image, clip) = (try StoreCommandTests.photo((90, 20, 180)), try TemporaryFile.bytes(of: Clips.front.write()))
    let marker = Array(#"{"kind":"marker","author":"ada"}"#.utf8)
    for (method, path, parts) in [
      ("POST", "/v1/posts", [("post", marker), ("image", image)]),
      ("POST", "/v1/posts", [("post", marker), ("video", clip)]),
      ("POST", "/v1/posts/\(photo)/reactions", [("author", Array("bob".utf8)), ("image", image)]),
      ("PUT", "/v1/users/ada/profile-image", [("image", image)]),
      ("PUT", "/v1/itineraries/i1/thumbnail", [("image", image)]), ("POST", "/v1/places/p1/photos", [("image", image)]),
    ] {
      let stored = try await api.submit(path, parts.map { (name: $0.0, bytes: $0.1) }, method: method)
      #expect(stored["status"]?.text == "ready", "\(path) \(stored.status)")
    }
    let access = ["--data", service.data, "--json"]
    let plan = try json(try await Take5Command.run(["reprocess", "--dry-run"] + access))
    let parts = plan["parts"]?.items ?? []
    // The sources of a reaction, a profile image and a thumbnail are not kept.
    #expect(plan["items"]?.number == 5 && parts.count == 5 && plan["without_sources"]?.number == 3, "\(plan)")
    for part in parts {
      #expect(part["made_by"] == part["made_again_by"] && part["same"] == .boolean(true), "\(part)")
    }
    for local in [[], ["--local"]] {
      let forced = try await Take5Command.run(["reprocess", "--force"] + local + access)
      #expect(forced.status == 0, "\(forced.errors)")
      #expect(try json(forced)["items"]?["done"]?.number == 5, "\(forced.output)")
    }
    // A definition that is given is for the markers with its media alone.
    for name in ["photo-post", "marker-video"] {
      let path = "\(service.folder.path)/\(name).json"
      try Descriptor(writing: path, replacing: true).write(Array(try Document("jobs/\(name).json").text.utf8))
      let run = try json(
        try await Take5Command.run(["reprocess", "--definition", path, "--kind", "marker", "--force"] + access))
      #expect(run["items"]?["done"]?.number == 1 && run["total"]?.number == 1)
    }
    try await service.stop()
  }

  @Test("what a stricter version has rejected becomes ready when it is judged again")
  func rejected() async throws {
    let folder = try TemporaryFolder()
    let built = try await Take5Command.run(["definition", "show", "take5-post"]).output
    let strict = "\(folder.path)/strict.json"
    // The clips last five seconds.
    let text = built.replacing(/"seconds": ?\[\s*4\.5,\s*5\.5\s*\]/, with: #""seconds": [5.3, 5.5]"#)
    #expect(text != built)
    try Descriptor(writing: strict, replacing: false).write(Array(text.utf8))
    let service = try await Service(["--definition", strict])
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post rejected"), "\(service.process.log)")
    #expect(try await service.post(moment.id).reasons.first?.code == .durationOutOfRange)
    let access = ["--data", service.data, "--json"]
    #expect(try await Take5Command.run(["verify", "--deep", "--data", service.data]).status == 0)
    #expect(try json(try await Take5Command.run(["reprocess", "--dry-run"] + access))["items"]?.number == 0)
    let plan = try json(try await Take5Command.run(["reprocess", "--rejected", "--dry-run"] + access))
    #expect(plan["items"]?.number == 1)
    #expect(try await Take5Command.run(["reprocess", "--reason", "corrupt_video"] + access).status == 64)
    let other = try await Take5Command.run(["reprocess", "--rejected", "--reason", "corrupt_video"] + access)
    #expect(other.status == 0)
    #expect(try json(other)["total"]?.number == 0)

    let run = try await Take5Command.run(["reprocess", "--rejected", "--reason", "duration_out_of_range"] + access)
    #expect(run.status == 0, "\(run.errors)")
    let ready = try await service.post(moment.id)
    #expect(ready.status == .ready && ready.reasons.isEmpty && !ready.assets.isEmpty)
    #expect(try await Take5Command.run(["verify", "--deep", "--data", service.data]).status == 0)
    #expect(try await service.stop() == 0)
  }

  @Test("a changed definition makes other outputs, and the old ones stay readable for the grace period")
  func changing() async throws {
    let (service, moment, photo) = try await service(["--background-slots", "2"])
    let access = ["--data", service.data, "--json"]
    let old = try await service.api().get("/v1/posts/\(moment)")["assets"]?["poster"]
    let untouched = try await files(of: photo, service)
    let definition = try changed(in: service.folder.path)

    let plan = try json(
      try await Take5Command.run(["reprocess", "--definition", definition, "--dry-run"] + access))
    #expect(plan["items"]?.number == 1)
    #expect(plan["parts"]?[0]?["made_by"]?.text == "take5-post 4")
    #expect(plan["parts"]?[0]?["made_again_by"]?.text == "take5-post 5")
    let changes = plan["parts"]?[0]?["changes"]?.items ?? []
    #expect(
      changes.contains { $0["path"]?.text == "outputs.poster.long_edge" && $0["after"]?.text == "640" }, "\(plan)")
    let lines = try await Take5Command.run(
      ["reprocess", "--definition", definition, "--dry-run", "--data", service.data]
    ).output
    #expect(lines.contains("  outputs.poster.long_edge: 1280 → 640\n"), "\(lines)")
    guard case .number(let hours)? = plan["hours"] else {
      Issue.record("the plan has no hours")
      return
    }
    #expect(hours > 0)

    let run = try await Take5Command.run(["reprocess", "--definition", definition] + access)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try json(run)["items"]?["done"]?.number == 1)
    let new = try await service.api().get("/v1/posts/\(moment)")["assets"]?["poster"]
    #expect(old?["height"]?.number == 1280 && new?["height"]?.number == 640)
    #expect(try await service.api().get(try #require(old?["url"]?.text)).status == 200)
    #expect(try await files(of: photo, service) == untouched)

    let again = try json(try await Take5Command.run(["reprocess", "--definition", definition] + access))
    #expect(again["items"]?["skipped"]?.number == 1)
    let none = try json(
      try await Take5Command.run(
        ["reprocess", "--made-by", "take5-post", "--version-below", "5", "--dry-run"] + access))
    #expect(none["items"]?.number == 0)

    #expect(try await Take5Command.run(["gc", "--grace", "0", "--released-pause", "0"] + access).status == 0)
    #expect(try await service.api().get(try #require(old?["url"]?.text)).status == 404)
    #expect(try await Take5Command.run(["verify", "--deep"] + access).status == 0)
    try await service.stop()
  }

  @Test(
    "a moment of a definition without the small rendition gets it when it is processed again, and keeps its other media"
  )
  func smallRendition() async throws {
    var earlier = try Definitions.take5Post()
    earlier.version = 2
    earlier.outputs[.composedSmall] = nil
    let folder = try TemporaryFolder()
    try Descriptor(writing: "\(folder.path)/take5-post.json", replacing: true).write(JSON.encode(earlier))
    let (service, moment, _) = try await service(["--definitions", folder.path])
    let access = ["--data", service.data, "--json"]
    let before = try await files(of: moment.description, service)
    #expect(before.count == 8 && before["composed.small"] == nil)

    let run = try await Take5Command.run(
      ["reprocess", moment.description, "--definition", "\(Document.root)/jobs/take5-post.json"] + access)
    #expect(run.status == 0, "\(run.errors)")
    let after = try await files(of: moment.description, service)
    #expect(after.count == 9 && after["composed.small"] != nil)
    // The same bytes, by another recipe.
    for (role, file) in before { #expect(after[role]?[0] == file[0] && after[role]?[1] != file[1], "\(role)") }
    let small = try await service.api().get("/v1/posts/\(moment)")["assets"]?["composed.small"]
    #expect(small?["width"]?.number == 540 && small?["height"]?.number == 960 && small?["type"]?.text == "video/mp4")
    let verified = try await Take5Command.run(["verify", "--deep"] + access)
    #expect(verified.status == 0, "\(verified.output)")
    try await service.stop()
  }

  @Test("an item without its source fails with a reason and keeps its outputs")
  func failing() async throws {
    let (service, moment, _) = try await service()
    let access = ["--data", service.data, "--json"]
    let hash = try await service.texts(
      "SELECT encode(blob, 'hex') FROM asset WHERE role = 'source.front'")
    let source = try #require(hash.first)
    #expect(unlink("\(service.data)/blobs/\(source.prefix(2))/\(source)") == 0)
    let before = try await files(of: moment.description, service)
    let run = try await Take5Command.run(["reprocess", moment.description, "--force", "--local"] + access)
    #expect(run.status == 1)
    let report = try json(run)
    #expect(report["items"]?["failed"]?.number == 1)
    #expect(report["failures"]?[0]?["error"]?.text?.contains("blob not found") == true)
    #expect(try await files(of: moment.description, service) == before)
    let found = try json(try await Take5Command.run(["reprocess", "--error", "BLOB NOT FOUND", "--dry-run"] + access))
    #expect(found["items"]?.number == 1)
    try await service.stop()
  }

  @Test("what a definition rejects is named at the end of a run by workers, which has status 1, and keeps its outputs")
  func rejecting() async throws {
    let (service, moment, _) = try await service()
    let access = ["--data", service.data, "--json"]
    // The clips last five seconds.
    let text = try Document("jobs/take5-post.json").text
      .replacing("\"version\": 4", with: "\"version\": 5").replacing(
        "\"seconds\": [4.5, 5.5]", with: "\"seconds\": [5.3, 5.5]")
    let strict = "\(service.folder.path)/strict.json"
    try Descriptor(writing: strict, replacing: true).write(Array(text.utf8))
    let before = try await files(of: moment.description, service)
    let run = try await Take5Command.run(["reprocess", "--definition", strict] + access)
    #expect(run.status == 1, "\(run.errors)")
    let report = try json(run)
    #expect(report["items"]?["failed"]?.number == 1 && report["failures"]?[0]?["id"]?.text == moment.description)
    #expect(report["failures"]?[0]?["error"]?.text?.contains("duration_out_of_range") == true, "\(report)")
    let status = try await Take5Command.run(
      ["reprocess", "status", try #require(report["id"]?.text), "--data", service.data])
    #expect(status.status == 0 && status.output.contains("  \(moment): "), "\(status.output)")
    #expect(try await files(of: moment.description, service) == before)
    try await service.stop()
  }

  @Test("an item that no worker can read yet is named with its error while a command follows its run, and done later")
  func newer() async throws {
    let (service, moment, _) = try await service(["--background-slots", "0"])
    let access = ["--data", service.data, "--json"]
    let detached = try await Take5Command.run(["reprocess", "--force", "--detach"] + access)
    let run = try #require(try json(detached)["id"]?.text, "\(detached.errors)")
    try await service.execute(
      """
      CREATE TABLE readable AS SELECT hash, body FROM definition;
      UPDATE definition SET body = '{}' WHERE name = 'take5-post'
      """)
    let worker = try await service.worker(["--background-slots", "1"])
    let following = try RunningTake5()
    _ = try await following.start(["reprocess", "resume", run, "--data", service.data], printsFirstLine: false)
    let line = "\(moment) waits for another attempt: the definition of job "
    #expect(await following.waitForLog("take5: \(line)"), "\(following.log)")
    await following.send(signal: SIGINT)
    #expect(await following.wait() == 130, "\(following.log)")
    #expect(following.log.split(separator: "\n").count { $0.contains(line) } == 1, "\(following.log)")
    let report = try json(try await Take5Command.run(["reprocess", "status", run] + access))
    #expect(report["state"]?.text == "running" && report["items"]?["failed"]?.number == 0, "\(report)")
    #expect(report["retried"]?.items.map { $0["id"]?.text } == [moment.description], "\(report)")
    #expect(report["retried"]?[0]?["error"]?.text?.contains("cannot be read") == true, "\(report)")
    let status = try await Take5Command.run(["reprocess", "status", run, "--data", service.data])
    #expect(status.output.contains("\n  \(line)"), "\(status.output)")

    try await service.execute(
      """
      UPDATE definition SET body = readable.body FROM readable WHERE readable.hash = definition.hash;
      DROP TABLE readable
      """)
    let resumed = try await Take5Command.run(["reprocess", "resume", run] + access)
    #expect(resumed.status == 0, "\(resumed.errors)")
    let ended = try json(resumed)
    #expect(ended["items"]?["done"]?.number == 2 && ended["retried"] == .array([]), "\(ended)")
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }

  @Test("while no service runs, a run waits for the next one and says so, and a local run is done at once")
  func withoutService() async throws {
    let (service, _, _) = try await service()
    try await service.stop()
    let access = ["--data", service.data, "--json"]
    let local = try await Take5Command.run(["reprocess", "--force", "--local"] + access)
    #expect(local.status == 0, "\(local.errors)")
    #expect(try json(local)["items"]?["done"]?.number == 2)
    let detached = try await Take5Command.run(["reprocess", "--force", "--detach"] + access)
    #expect(detached.status == 0, "\(detached.errors)")
    let run = try #require(try json(detached)["id"]?.text)
    let waiting = try json(try await Take5Command.run(["reprocess", "status", run] + access))
    #expect(waiting["state"]?.text == "running" && waiting["items"]?["waiting"]?.number == 2, "\(waiting)")
    let next = try await Service(in: service.folder, shipped: true)
    let resumed = try await Take5Command.run(["reprocess", "resume", run] + access)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(try json(resumed)["items"]?["done"]?.number == 2)
    try await next.stop()
  }

  @Test("a paused run processes no items, a detached run continues, and a cancelled run ends")
  func detached() async throws {
    let (service, _, _) = try await service(["--background-slots", "0"])
    let access = ["--data", service.data, "--json"]
    func start() async throws -> String {
      let command = try await Take5Command.run(["reprocess", "--force", "--detach"] + access)
      #expect(command.status == 0, "\(command.errors)")
      return try #require(try json(command)["id"]?.text)
    }
    let (first, second) = (try await start(), try await start())
    #expect(try await Take5Command.run(["reprocess", "pause", first] + access).status == 0)
    #expect(try await Take5Command.run(["reprocess", "cancel", second] + access).status == 0)
    #expect(try await Take5Command.run(["reprocess", "resume", second] + access).status == 65)
    let worker = try await service.worker(["--background-slots", "1"])
    let resumed = try await Take5Command.run(["reprocess", "resume", first] + access)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(try json(resumed)["items"]?["done"]?.number == 2)
    let cancelled = try json(try await Take5Command.run(["reprocess", "status", second] + access))
    #expect(cancelled["state"]?.text == "cancelled")
    #expect(cancelled["items"]?["cancelled"]?.number == 2)
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }

  @Test("invalid options are refused before a run starts")
  func refusing() async throws {
    let folder = try TemporaryFolder()
    let definition = "\(folder.path)/other.json"
    let text = try Document("jobs/take5-post.json").text.replacing("\"take5-post\"", with: "\"other\"")
    try Descriptor(writing: definition, replacing: true).write(Array(text.utf8))
    for (arguments, message) in [
      (["--definition", definition], "which no kind of media uses"),
      (["--definition", definition, "--kind", "photo"], "a definition for clips"),
      (["--rate", "0"], "--rate"), (["--kind", "film"], "--kind"),
      (["--local", "--detach"], "cannot be combined with --detach"),
      (["not-an-id"], "not the id"), (["--state", "processing"], "--state"), (["--missing", "film"], "--missing"),
    ] {
      let command = try await Take5Command.run(["reprocess"] + arguments + ["--data", folder.path])
      #expect(command.status == 64, "\(arguments)")
      #expect(command.errors.contains(message), "\(command.errors)")
    }
    // Ids are no configuration.
    let missing = try await Take5Command.run(["reprocess", "--ids", "\(folder.path)/ids", "--data", folder.path])
    #expect(missing.status == 66 && missing.errors.contains("/ids cannot be read"), "\(missing)")
    for name in ["pause", "resume", "cancel", "status"] {
      let command = try await Take5Command.run(["reprocess", name, PublicID.now().description, "--data", folder.path])
      #expect(command.status == 66, "\(command.errors)")
    }
  }
}
