internal import COpenAPI
internal import Crypto
package import HTTPServer
internal import Platform
internal import Store

/// The route of the OpenAPI document.
package struct DocumentRoutes: RouteRoom {
  package let kit: Kit
  /// The other routes that the document describes.
  private let others: [Route]

  package init(kit: Kit, others: [Route]) {
    self.kit = kit
    self.others = others
  }

  package var routes: [Route] {
    // Completed by the first request: the service starts without it.
    let completed = Locked<(bytes: [UInt8], Representation)?>(nil)
    return [
      route("GET", "/openapi.json", access: .unlimited) { request in
        let (bytes, representation) = completed.withLock { completed in
          let document = completed ?? Self.document(of: others + self.routes, store.rooms.problems)
          completed = document
          return document
        }
        return try await representation.respond(to: request) { range in
          .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
      }
    ]
  }

  /// The document before it is completed.
  static var storedDocument: OrderedJSON {
    var size = 0
    let document = copenapi_document(&size)
    return OrderedJSON([UInt8](UnsafeRawBufferPointer(start: document, count: size)))
  }

  private static func document(of routes: [Route], _ problems: [any ProblemTable]) -> (bytes: [UInt8], Representation) {
    let bytes = OpenAPIDocument(own: storedDocument, problems: problems).completed(by: routes).bytes
    let representation = Representation(
      length: Int64(bytes.count), entityTag: EntityTag(strong: SHA256.digest(of: bytes).hex),
      // Caches must revalidate it, because it changes with the version of the program.
      headers: ["Content-Type": "application/json", "Cache-Control": "public, no-cache"])
    return (bytes, representation)
  }
}
