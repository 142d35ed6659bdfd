import FoundationEssentials
import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("take5 submit", .tags(.process), .serialized, .timeLimit(.minutes(5)))
struct SubmitTests {
  private let service: Service
  private let photo: String

  init() async throws {
    service = try await Service()
    photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
  }

  private func submit(_ words: [String]) async throws -> Take5Command {
    try await Take5Command.run(["submit"] + words + ["--server", service.url], in: service.folder.path)
  }

  @Test("whatever apps submit can be submitted, waited for and saved")
  func kinds() async throws {
    let clip = try Clips.write(Clips.front, "clip.mp4", in: service.folder)
    let text = try await submit(["marker", "--title", "Here", "--author", "ada", "--json"])
    let post = try #require(text.output.split(separator: "\"").dropFirst(3).first.map(String.init))
    let submissions: [(words: [String], saved: String)] = [
      (["photo", photo, photo, "--author", "ada"], "1.photo.large.jpg"),
      (["marker", photo, "--location", "52.52,13.405"], "1.photo.large.jpg"), (["marker", clip], "clip.mp4"),
      (["reaction", post, photo, "--author", "grace"], "photo.small.jpg"),
      (["profile-image", "a user/with a slash", photo], "avatar.jpg"),
      (["thumbnail", "spring", photo], "photo.medium.jpg"), (["place-photo", "gate", photo], "photo.large.jpg"),
    ]
    for (number, submission) in submissions.enumerated() {
      let folder = "\(service.folder.path)/saved-\(number)"
      // To save it is to wait for it.
      let run = try await submit(submission.words + ["--save", folder])
      #expect(run.status == 0 && run.output.contains("is ready"), "\(submission.words): \(run.errors)\(run.output)")
      let names = try Folder.names(in: folder)
      #expect(names.contains(submission.saved), "\(submission.words): \(names)")
      for name in names {
        #expect(run.output.contains("\(folder)/\(name)"))
        #expect(try Descriptor(reading: "\(folder)/\(name)").size() > 100)
      }
    }
    try await service.stop()
  }

  @Test("who waits is woken by the service, and is told of URLs that can be opened")
  func waiting() async throws {
    let run = try await submit(["photo", photo, "--wait", "--json"])
    let answer = try JSONDecoder().decode(API.Value.self, from: Data(run.output.utf8))
    let url = try #require(answer["photos"]?.items.first?["photo.large"]?.text)
    #expect(url.hasPrefix("\(service.url)/v1/media/"), "\(url)")
    let opened = try await service.get(String(url.dropFirst(service.url.count)))
    #expect(opened.status == 200 && opened.body.starts(with: [0xFF, 0xD8]))
    let asked = service.process.log.split(separator: "\n").count { $0.contains("path=/v1/jobs/") }
    #expect(asked <= 2, "\(service.process.log)")
    try await service.stop()
  }

  @Test("what is refused saves nothing, and a folder that cannot be written to is told before anything is sent")
  func refused() async throws {
    let folder = "\(service.folder.path)/saved"
    let broken = try Clips.write(Array("no photo at all".utf8), "broken.jpg", in: service.folder)
    let run = try await submit(["photo", broken, "--save", folder])
    #expect(run.status == 65, "\(run.errors)")
    #expect(access(folder, F_OK) != 0)
    let blocked = try await submit(["photo", photo, "--save", "\(photo)/below"])
    #expect(blocked.status == 74, "\(blocked.errors)")
    #expect(try await service.count("SELECT count(*)::int FROM post") == 0)
    try await service.stop()
  }
}
